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
import org.apache.solr.client.solrj.impl.Http2SolrClient;
import org.apache.solr.client.solrj.impl.HttpJdkSolrClient;
import org.apache.solr.client.solrj.impl.HttpSolrClient;
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
        try (SolrClient client = new HttpJdkSolrClient.Builder(url).build()) {
            steps("HttpJdkSolrClient", client);
        }
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
        refused(client, new SolrQuery("body:("), 400, "a word is missing");
        refused(client, new SolrQuery("nothing:x"), 400, "undefined field nothing");
        refused(client, new SolrQuery("*:*").setParam("group", true), 400, "group=true");
        refused(client, new SolrQuery("{!dismax}x"), 400, "other query parsers");
        try {
            SolrInputDocument document = new SolrInputDocument();
            document.addField("id", "x");
            client.add(TABLE, document);
            check("update", "refused", "taken");
        } catch (SolrException error) {
            check("update", 400, error.code());
        }
    }

    static void refused(SolrClient client, SolrQuery query, int code, String message) throws Exception {
        try {
            client.query(TABLE, query);
            check(query.getQuery(), "refused", "answered");
        } catch (SolrException error) {
            check(query.getQuery(), code, error.code());
            check(error.getMessage(), true, error.getMessage().contains(message));
        }
    }

    static void check(String what, Object expected, Object found) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError(what + ": expected " + expected + ", found " + found);
        }
        checks++;
    }
}
