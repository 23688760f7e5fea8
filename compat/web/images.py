"""Draws the pictures of docs/operation.md:  images.py http://HOST:PORT FOLDER, by images.sh after its load has run."""

import pathlib
import sys

from drive import with_page

QUESTIONS = "ask order = ? : 20/s\\nask customer = ? limit 10 : 5/s\\nrows 1000\\n"


def draw(page, base, into):
    def save(name, width, height):
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        # The machine may have no Chinese font for the link to the other language.
        page.evaluate("document.querySelector('.lang').remove()")
        page.evaluate("new Promise(done => setTimeout(done, 500))")
        page.screenshot(into / name)

    page.call("Emulation.setDeviceMetricsOverride", width=1120, height=900, deviceScaleFactor=1, mobile=False)
    page.open(f"{base}/?lang=en")
    save("overview.png", 1120, 900)
    page.open(f"{base}/heat/metrics?of=writes&lang=en")
    page.until("performance.getEntriesByType('resource').some(it => it.name.includes('.json'))")
    save("heat.png", 1120, 1000)
    page.open(f"{base}/heat?lang=en")
    save("heat-all.png", 1120, 420)
    page.open(f"{base}/design?table=orders&lang=en")
    page.evaluate(f"document.querySelector('textarea').value += '{QUESTIONS}'")
    page.follow(lambda: page.evaluate("document.querySelector('form button').click()"))
    page.follow(lambda: page.evaluate("document.querySelector('form[action=\"/design/simulation\"] button').click()"))
    while page.evaluate("document.querySelector('main').innerText.includes('are being')"):
        page.follow(lambda: None)
    page.evaluate("document.querySelector('main form').remove(); document.querySelector('main form').remove()")
    save("design.png", 1120, 1000)


base, into = sys.argv[1], pathlib.Path(sys.argv[2])
into.mkdir(parents=True, exist_ok=True)
with_page(lambda page: draw(page, base, into))
