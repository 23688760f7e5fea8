import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.solr.client.solrj.SolrClient;
import org.apache.solr.client.solrj.SolrQuery;
import org.apache.solr.client.solrj.SolrQuery.ORDER;
import org.apache.solr.client.solrj.SolrRequest.METHOD;
import org.apache.solr.client.solrj.SolrServerException;
import org.apache.solr.client.solrj.impl.Http2SolrClient;
import org.apache.solr.client.solrj.impl.HttpJdkSolrClient;
import org.apache.solr.client.solrj.impl.HttpSolrClient;
import org.apache.solr.client.solrj.impl.LBHttp2SolrClient;
import org.apache.solr.client.solrj.impl.LBSolrClient;
import org.apache.solr.client.solrj.request.QueryRequest;
import org.apache.solr.client.solrj.response.FacetField;
import org.apache.solr.client.solrj.response.QueryResponse;
import org.apache.solr.common.SolrDocument;
import org.apache.solr.common.SolrException;
import org.apache.solr.common.SolrInputDocument;
import org.apache.solr.common.params.CursorMarkParams;

/**
 * Searches the table mail (run.sh) with SolrJ's clients, each with its own protocol and parser: SolrSteps http://HOST:PORT/solr
 */
public class SolrSteps {
    static final String TABLE = "mail";
    static int checks;

    @SuppressWarnings("deprecation")
    public static void main(String[] args) throws Exception {
        String url = args[0];
        try (SolrClient client = new HttpSolrClient.Builder(url).build()) {
            steps("HttpSolrClient", client);
        }
        try (SolrClient client = new Http2SolrClient.Builder(url).build()) {
            steps("Http2SolrClient", client);
        }
        try (SolrClient client = new Http2SolrClient.Builder(url).useHttp1_1(true).build()) {
            steps("Http2SolrClient, HTTP/1.1", client);
        }
        try (Http2SolrClient http = new Http2SolrClient.Builder(url).build();
            SolrClient client = new LBHttp2SolrClient.Builder(http, new LBSolrClient.Endpoint(url)).build()) {
            steps("LBHttp2SolrClient", client);
        }
        try (SolrClient client = new HttpJdkSolrClient.Builder(url).build()) {
            steps("HttpJdkSolrClient", client);
        }
        try (SolrClient client = new HttpJdkSolrClient.Builder(url).useHttp1_1(true).build()) {
            steps("HttpJdkSolrClient, HTTP/1.1", client);
        }
        withoutBody(url);
    }

    static void steps(String name, SolrClient client) throws Exception {
        checks = 0;
        ping(client);
        queries(client, METHOD.GET);
        queries(client, METHOD.POST);
        documents(client);
        cursors(client);
        highlights(client);
        facets(client);
        refused(client);
        System.out.println(name + ": " + checks + " checks");
    }

    static void ping(SolrClient client) throws Exception {
        check("ping", 0, client.ping(TABLE).getStatus());
    }

    static void queries(SolrClient client, METHOD method) throws Exception {
        // 1,000 mails of ann, bob and eve; every tenth is about row keys, every hundredth is Chinese.
        check("all", 1000L, count(client, method, "*:*"));
        check("word", 100L, count(client, method, "body:key"));
        check("phrase", 100L, count(client, method, "body:\"row keys\""));
        check("either", 1000L, count(client, method, "body:(key common)"));
        check("both", 100L, count(client, method, "+body:key +body:common"));
        check("not", 900L, count(client, method, "body:common -body:key"));
        check("pure not", 900L, count(client, method, "-body:key"));
        check("prefix", 100L, count(client, method, "body:ke*"));
        check("similar", 100L, count(client, method, "body:kee~1"));
        check("Chinese", 10L, count(client, method, "body:行键设计"));
        check("signs inside", 900L, count(client, method, "body:common!words"));
        check("slash inside", 100L, count(client, method, "body:row/keys"));
        check("comment", 100L, count(client, method, "body:key /* body:common */"));
        check("value", 10L, count(client, method, "size:[* TO 9]"));
        check("key", 334L, count(client, method, "user:ann"));
        check("filters", 34L, count(client, method, "body:key", "user:ann"));
        check("two filters", 3L, count(client, method, "body:key", "user:ann", "size:{0 TO 100}"));
        // Too long for an address.
        StringBuilder many = new StringBuilder("size:(");
        for (int size = 0; size < 500; size++) {
            many.append(size).append(' ');
        }
        if (method == METHOD.POST) {
            check("many", 500L, count(client, method, many.append(')').toString()));
        }
        SolrQuery all = new SolrQuery("body:key common").setParam("df", "body").setParam("q.op", "AND").setRows(0);
        check("q.op", 100L, client.query(TABLE, all, method).getResults().getNumFound());
    }

    static long count(SolrClient client, METHOD method, String query, String... filters) throws Exception {
        SolrQuery asked = new SolrQuery(query).setRows(0);
        asked.addFilterQuery(filters);
        return client.query(TABLE, asked, method).getResults().getNumFound();
    }

    static void documents(SolrClient client) throws Exception {
        SolrQuery query = new SolrQuery("size:10").setFields("*", "score");
        QueryResponse response = client.query(TABLE, query);
        SolrDocument document = response.getResults().get(0);
        check("status", 0, response.getStatus());
        check("user", "bob", document.getFieldValue("user"));
        check("number", 10L, document.getFieldValue("n"));
        check("size", 10L, document.getFieldValue("size"));
        check("time", new Date(1669852810000L), document.getFieldValue("at"));
        check("score", 1.0f, document.getFieldValue("score"));
        check("highest score", 1.0f, response.getResults().getMaxScore());
        check("exact", true, response.getResults().getNumFoundExact());
        // The id leads back to the row.
        String id = (String) document.getFieldValue("id");
        SolrQuery byId = new SolrQuery("id:\"" + id.replace("\\", "\\\\") + "\"").setFields("size");
        check("by id", "[SolrDocument{size=10}]", new ArrayList<>(client.query(TABLE, byId).getResults()).toString());
        SolrQuery sorted = new SolrQuery("*:*").addSort("size", ORDER.desc).addSort("id", ORDER.asc).setRows(3).setStart(2);
        List<Object> sizes = new ArrayList<>();
        client.query(TABLE, sorted).getResults().forEach(it -> sizes.add(it.getFieldValue("size")));
        check("sorted", List.of(997L, 996L, 995L), sizes);
    }

    static void cursors(SolrClient client) throws Exception {
        for (String sort : List.of("id", "score", "size")) {
            SolrQuery query = new SolrQuery("body:common").setRows(70).setFields("id");
            if (!sort.equals("id")) {
                query.addSort(sort, ORDER.desc);
            }
            query.addSort("id", ORDER.asc);
            List<Object> found = new ArrayList<>();
            String mark = CursorMarkParams.CURSOR_MARK_START;
            while (true) {
                query.set(CursorMarkParams.CURSOR_MARK_PARAM, mark);
                QueryResponse response = client.query(TABLE, query);
                response.getResults().forEach(it -> found.add(it.getFieldValue("id")));
                if (mark.equals(response.getNextCursorMark())) {
                    break;
                }
                mark = response.getNextCursorMark();
            }
            check("rows by " + sort, 1000, found.size());
            check("different rows by " + sort, 1000, new HashSet<>(found).size());
        }
    }

    static void highlights(SolrClient client) throws Exception {
        SolrQuery query = new SolrQuery("body:设计 AND size:0").setHighlight(true).addHighlightField("body");
        query.setHighlightSimplePre("[").setHighlightSimplePost("]").setHighlightFragsize(20).setHighlightSnippets(1);
        QueryResponse response = client.query(TABLE, query);
        String id = (String) response.getResults().get(0).getFieldValue("id");
        Map<String, List<String>> marked = response.getHighlighting().get(id);
        check("highlight", Map.of("body", List.of("common row keys 行键[设计]")), marked);
    }

    static void facets(SolrClient client) throws Exception {
        SolrQuery query = new SolrQuery("body:key").setRows(0).setFacet(true).addFacetField("sender").setFacetMinCount(1);
        FacetField field = client.query(TABLE, query).getFacetField("sender");
        check("values", 2, field.getValueCount());
        check("first value", "s0 (50)", field.getValues().get(0).toString());
        query.setFacetLimit(1);
        check("one value", 1, client.query(TABLE, query).getFacetField("sender").getValueCount());
    }

    static void refused(SolrClient client) throws Exception {
        for (METHOD method : List.of(METHOD.GET, METHOD.POST)) {
            refused(client, method, new SolrQuery("body:("), 400, "a word is missing");
            refused(client, method, new SolrQuery("nothing:x"), 400, "undefined field nothing");
            refused(client, method, new SolrQuery("*:*").setParam("group", true), 400, "group=true");
            refused(client, method, new SolrQuery("{!dismax}x"), 400, "other query parsers");
            refused(client, method, new SolrQuery("at:[NOW-1DAY TO NOW]"), 400, "at=NOW-1DAY");
            refused("unknown table", 404, "there is no table none", () -> client.query("none", new SolrQuery("*:*"), method));
        }
        // Longer than a query, and than a form: the exceptions do not repeat them.
        refused(client, METHOD.POST, new SolrQuery("a ".repeat(300_000)), 400, "query is too long: bytes=600000");
        refused(client, METHOD.POST, new SolrQuery("a ".repeat(2_600_000)), 413, "the form is too long: max=1048576");
        QueryRequest other = new QueryRequest(new SolrQuery("*:*"), METHOD.POST);
        other.setPath("/terms");
        refused("other handler", 404, "/terms is not served", () -> other.process(client, TABLE));
        String updates = "rows are written by HBase's protocol";
        refused("add", 400, updates, () -> client.add(TABLE, document(0)));
        refused("delete", 400, updates, () -> client.deleteById(TABLE, "x"));
        refused("commit", 400, updates, () -> client.commit(TABLE));
        refused("optimize", 400, updates, () -> client.optimize(TABLE));
        refused("rollback", 400, updates, () -> client.rollback(TABLE));
        List<SolrInputDocument> many = new ArrayList<>();
        for (int n = 0; n < 60_000; n++) {
            many.add(document(n));
        }
        refused("add many", 400, updates, () -> client.add(TABLE, many));
        check("after", 1000L, count(client, METHOD.POST, "*:*"));
    }

    static SolrInputDocument document(int n) {
        SolrInputDocument document = new SolrInputDocument();
        document.addField("id", "x" + n);
        document.addField("body", "a text that is long enough for several packets if there are many of it");
        return document;
    }

    static void refused(SolrClient client, METHOD method, SolrQuery query, int code, String message) throws Exception {
        String shown = query.getQuery().substring(0, Math.min(40, query.getQuery().length()));
        refused(method + " " + shown, code, message, () -> client.query(TABLE, query, method));
    }

    interface Request {
        Object run() throws Exception;
    }

    static void refused(String what, int code, String message, Request request) throws Exception {
        try {
            request.run();
        } catch (SolrException | SolrServerException thrown) {
            // LBHttp2SolrClient wraps the error of the last server that it tried.
            SolrException error = (SolrException) (thrown instanceof SolrException ? thrown : thrown.getCause());
            check(what, code, error.code());
            check(what + ": " + error.getMessage(), true, error.getMessage().contains(message));
            check(what + ", length of the message", true, error.getMessage().length() < 3_000);
            return;
        }
        check(what, "refused", "answered");
    }

    /** As `curl -X POST`: the parameters are in the address, and there is neither a body nor its type. */
    static void withoutBody(String url) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/" + TABLE + "/select?q=size:10&wt=json"))
            .POST(HttpRequest.BodyPublishers.noBody()).build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        check("POST without a body", 200, response.statusCode());
        check("POST without a body", true, response.body().contains("\"numFound\":1"));
    }

    static void check(String what, Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError(what + ": expected " + expected + ", found " + found);
        }
        checks++;
    }
}
