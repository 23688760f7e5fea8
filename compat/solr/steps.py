"""Searches the table mail (run.sh) with pysolr:  steps.py http://HOST:PORT/solr/mail"""

import sys

import pysolr

checks = 0


def check(what, expected, found):
    global checks
    assert expected == found, f"{what}: expected {expected!r}, found {found!r}"
    checks += 1


def main(url):
    solr = pysolr.Solr(url, timeout=10)
    check("ping", "OK", __import__("json").loads(solr.ping())["status"])
    for query, hits in [
        ("*:*", 1000),
        ("body:key", 100),
        ('body:"row keys"', 100),
        ("body:(key common)", 1000),
        ("+body:key +body:common", 100),
        ("body:行键设计", 10),
        ("size:[* TO 9]", 10),
        ("user:ann AND body:key", 34),
    ]:
        check(query, hits, solr.search(query, rows=0).hits)
    check("filters", 34, solr.search("body:key", fq=["user:ann", "size:[0 TO *]"]).hits)
    # Above 1,024 characters pysolr sends a form.
    many = "size:(" + " ".join(str(size) for size in range(500)) + ")"
    check("form", 500, solr.search(many, rows=0).hits)

    best = solr.search("size:10", fl="*,score").docs[0]
    check("document", ("bob", 10, 10, "2022-12-01T00:00:10Z", 1.0),
          (best["user"], best["n"], best["size"], best["at"], best["score"]))
    by_id = solr.search('id:"%s"' % best["id"].replace("\\", "\\\\"), fl="size").docs
    check("by id", [{"size": 10}], by_id)
    check("sorted", [997, 996, 995],
          [it["size"] for it in solr.search("*:*", sort="size desc, id asc", start=2, rows=3)])

    for sort in ["id asc", "score desc,id asc", "size desc,id asc"]:
        # pysolr reads all pages.
        found = [it["id"] for it in solr.search("body:common", sort=sort, rows=70, fl="id", cursorMark="*")]
        check("rows by " + sort, (1000, 1000), (len(found), len(set(found))))

    marked = solr.search("body:设计 AND size:0", **{
        "hl": "true", "hl.fl": "body", "hl.simple.pre": "[", "hl.simple.post": "]", "hl.fragsize": 20})
    check("highlight", [{"body": ["common row keys 行键[设计]"]}], list(marked.highlighting.values()))
    counted = solr.search("body:key", rows=0, facet="on", **{"facet.field": "sender", "facet.mincount": 1})
    check("counts", ["s0", 50, "s1", 50], counted.facets["facet_fields"]["sender"])

    for asked, message in [({"q": "body:("}, "a word is missing"), ({"q": "*:*", "group": "true"}, "group=true")]:
        try:
            solr.search(**asked)
        except pysolr.SolrError as error:
            check(message, True, message in str(error))
        else:
            raise AssertionError(f"{asked} is answered")
    try:
        solr.add([{"id": "x"}])
    except pysolr.SolrError as error:
        check("update", True, "HBase's protocol" in str(error))
    else:
        raise AssertionError("an update is taken")
    print(f"pysolr: {checks} checks")


main(sys.argv[1])
