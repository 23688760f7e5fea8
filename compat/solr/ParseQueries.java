import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.lucene.analysis.core.WhitespaceAnalyzer;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.queryparser.classic.QueryParser;

/** Prints what Lucene's classic parser makes of queries: reads and writes lines of `OPERATOR|query TAB printed`. */
public class ParseQueries {
    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String asked = line.split("\t")[0];
            int bar = asked.indexOf('|');
            QueryParser parser = new QueryParser("", new WhitespaceAnalyzer());
            parser.setAllowLeadingWildcard(true); // Solr's parser does
            parser.setDefaultOperator(QueryParser.Operator.valueOf(asked.substring(0, bar)));
            String printed;
            try {
                printed = parser.parse(asked.substring(bar + 1)).toString("");
            } catch (ParseException error) {
                printed = "error";
            }
            System.out.println(asked + "\t" + printed);
        }
    }
}
