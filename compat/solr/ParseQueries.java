import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringReader;
import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.lucene.queryparser.charstream.FastCharStream;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.BoostQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.solr.parser.ParseException;
import org.apache.solr.parser.QueryParser;
import org.apache.solr.parser.SolrQueryParserBase;
import org.apache.solr.parser.TokenMgrError;
import org.apache.solr.query.FilterQuery;
import org.apache.solr.search.SyntaxError;

/**
 * Prints what Solr's parser makes of queries, of which it reads lines of {@code OPERATOR|query TAB …}, or
 * which it makes itself:  ParseQueries [COUNT SEED]
 *
 * In lines, a tab is written as ␉ and the end of a line as ␊. Each line of the output has the tree that the
 * query is, {@code error} if Solr refuses it, or {@code unserved} if rowhouse does not serve what is in it.
 */
public class ParseQueries {
    public static void main(String[] args) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        if (args.length > 0) {
            RandomQueries queries = new RandomQueries(new Random(Long.parseLong(args[1])));
            for (int nth = Integer.parseInt(args[0]); nth > 0; nth--) {
                print(out, (nth % 2 == 0 ? "AND|" : "OR|") + queries.next());
            }
        } else {
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                print(out, line.split("\t")[0].replace('␉', '\t').replace('␊', '\n'));
            }
        }
        out.flush();
    }

    static void print(PrintStream out, String query) throws Exception {
        int bar = query.indexOf('|');
        String tree = new Parser(QueryParser.Operator.valueOf(query.substring(0, bar))).tree(query.substring(bar + 1));
        out.print(line(query) + "\t" + line(tree) + "\n");
    }

    static String line(String text) {
        return text.replace('\t', '␉').replace('\n', '␊');
    }
}

/** Solr's parser without a schema: every condition becomes its text. */
class Parser extends QueryParser {
    private boolean isServed = true;

    Parser(QueryParser.Operator operator) throws ReflectiveOperationException {
        super(new FastCharStream(new StringReader("")));
        setDefaultOperator(operator);
        setSplitOnWhitespace(true);
        // Only with a schema can it be set.
        Field defaultField = SolrQueryParserBase.class.getDeclaredField("defaultField");
        defaultField.setAccessible(true);
        defaultField.set(this, "default");
    }

    String tree(String text) {
        if (text.startsWith("{!")) {
            return "unserved"; // Solr gives it to another parser
        }
        try {
            Query query = parse(text);
            return isServed ? shown(query) : "unserved";
        } catch (SyntaxError | IllegalArgumentException error) {
            return "error";
        }
    }

    private Query served(boolean isServed, String text) {
        this.isServed &= isServed;
        String field = getExplicitField();
        this.isServed &= !"*".equals(field); // there is only *:*
        return new Leaf(field == null ? text : quoted(field, '\'') + ":" + text);
    }

    @Override
    protected Query getFieldQuery(String field, String text, boolean isQuoted, boolean raw) {
        return served(true, quoted(text, isQuoted ? '"' : '\''));
    }

    @Override
    protected Query getFieldQuery(String field, String text, int distance) {
        return served(distance == 0, quoted(text, '"'));
    }

    @Override
    protected Query getPrefixQuery(String field, String text) {
        return served(true, quoted(text, '\'') + "*");
    }

    @Override
    protected Query getFuzzyQuery(String field, String text, float changes) {
        boolean isServed = changes == 0 || changes == 1 || changes == 2;
        return served(isServed, quoted(text, '\'') + (changes == 0 ? "" : "~" + (int) changes));
    }

    @Override
    protected Query getRangeQuery(String field, String low, String high, boolean hasLow, boolean hasHigh) {
        String from = low == null ? "*" : quoted(low, '\'');
        String to = high == null ? "*" : quoted(high, '\'');
        return served(true, (hasLow ? "[" : "{") + from + " TO " + to + (hasHigh ? "]" : "}"));
    }

    @Override
    protected Query getExistenceQuery(String field) {
        return served(true, "*");
    }

    @Override
    protected Query getWildcardQuery(String field, String text) throws SyntaxError {
        return text.equals("*") ? super.getWildcardQuery(field, text) : served(false, text);
    }

    @Override
    protected Query getRegexpQuery(String field, String text) {
        return served(false, text);
    }

    @Override
    protected Query getLocalParams(String field, String text) {
        return served(false, text);
    }

    static String quoted(String text, char quote) {
        return quote + text + quote;
    }

    static String shown(Query query) {
        if (query instanceof MatchAllDocsQuery) {
            return "*:*";
        }
        if (query instanceof FilterQuery) {
            return shown(((FilterQuery) query).getQuery()) + "^=0";
        }
        if (query instanceof BoostQuery) {
            BoostQuery boosted = (BoostQuery) query;
            String number = new BigDecimal(Float.toString(boosted.getBoost())).stripTrailingZeros().toPlainString();
            Query inner = boosted.getQuery();
            return inner instanceof ConstantScoreQuery
                ? shown(((ConstantScoreQuery) inner).getQuery()) + "^=" + number
                : shown(inner) + "^" + number;
        }
        if (!(query instanceof BooleanQuery)) {
            return query.toString("");
        }
        StringBuilder tree = new StringBuilder();
        int excluded = 0;
        for (BooleanClause clause : (BooleanQuery) query) {
            tree.append(tree.length() == 0 ? "" : " ").append(clause.getOccur()).append(shown(clause.getQuery()));
            excluded += clause.isProhibited() ? 1 : 0;
        }
        // A group of one clause that may or must match is the clause.
        boolean isOne = ((BooleanQuery) query).clauses().size() == 1 && excluded == 0;
        return isOne ? tree.toString().replaceFirst("^\\+", "") : "(" + tree + ")";
    }
}

/** A condition, as it is printed. */
class Leaf extends Query {
    private final String text;

    Leaf(String text) {
        this.text = text;
    }

    @Override
    public String toString(String field) {
        return text;
    }

    @Override
    public void visit(QueryVisitor visitor) {
        visitor.visitLeaf(this);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Leaf && ((Leaf) other).text.equals(text);
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }
}

/** Queries that follow the grammar. Some have forms that are refused, or a few wrong characters. */
class RandomQueries {
    private static final String[] WORDS = {
        "a", "b", "cc", "行键", "and", "yahoo!mail", "help!", "AC/DC", "c++", "x-y", "x/y/", "a&&b", "&", "|||", "d\\ e", "a\\:b",
        "\\!x", "\\/x\\/", "\\u0041b", "1.5", "filter", "TO", "'", "a=b", "u", "C:\\\\d", "\\AND", "NOTE"
    };
    private static final String[] BOUNDS = {
        "a", "*", "1", "-5", "TO", "\"a b\"", "\"a\\\"b\"", "\"\"", "\"a\"b", "\\*", "\\]", "2022-12-01T00:00:00Z", "!a", "NOW/DAY",
        "a:b", "(", "\\u0041", "/*a", "a\\\\"
    };
    private static final String[] SPACES = {" ", " ", "  ", "\t", "\n", "\u3000", " /* c */ ", "/* a /* ( */ b */", " /**/"};
    private static final String[] JOINTS = {" ", " ", " ", " AND ", " OR ", " && ", " || ", "\tAND\n", " OR /* c */", "\u3000"};
    private static final String NOISE = "ab+-!()[]{}:^\"~*?/\\&|= \t\u3000.01u'行";
    private final Random random;

    RandomQueries(Random random) {
        this.random = random;
    }

    String next() {
        StringBuilder text = new StringBuilder(query(0));
        for (int changes = rarely(4) ? 1 + random.nextInt(2) : 0; changes > 0; changes--) {
            int at = random.nextInt(text.length());
            if (rarely(3) && text.length() > 1) {
                text.deleteCharAt(at);
            } else {
                text.insert(at, NOISE.charAt(random.nextInt(NOISE.length())));
            }
        }
        return text.toString();
    }

    private String query(int depth) {
        StringBuilder text = new StringBuilder(space(10)).append(clause(depth));
        while (random.nextInt(depth == 0 ? 3 : 2) > 0) {
            text.append(pick(JOINTS)).append(clause(depth));
        }
        return text.append(space(10)).toString();
    }

    private String clause(int depth) {
        String sign = rarely(4) ? pick("+", "-", "!", "NOT ", "+ ", "- ", "! ") : "";
        String field = rarely(4) ? pick("f:", "g:", "f:" + space(2), "f" + space(2) + ":", "f\\u0041:", "a!b:") : "";
        String weight = rarely(8) ? space(4) + pick("^2", "^0.5", "^=3", "^10", "^1.5.5") : "";
        if (rarely(60)) {
            return sign + field + pick("AND", "*:a", "a^-1", "a^ 2", "a\\u", "wo?d", "w*d", "/re/", "{!t f=a}b", "{!a TO b]", "\"a", "()");
        }
        switch (random.nextInt(depth < 3 ? 12 : 8)) {
            case 0:
                String distance = rarely(8) ? space(4) + pick("~", "~0", "~0.5", "~2") : "";
                return sign + field + pick("\"p q\"", "\"a\\\"b\"", "\"\"", "\"/* a */\"", "\"行\\u0041\"") + either(distance, weight);
            case 1:
                return sign + field + range() + weight;
            case 2:
                return sign + pick("*", "*:*", "f:*", "*:(*)") + weight;
            case 8:
            case 9:
                return sign + field + "(" + query(depth + 1) + ")" + weight;
            case 10:
                return sign + field + "filter(" + query(depth + 1) + ")" + weight;
            default:
                String star = rarely(6) ? "*" : "";
                String changes = rarely(6) ? space(4) + pick("~", "~1", "~2", "~0", "~1.0", "~1 .5", "~", "~1", "~2", "~3", "~0.8") : "";
                return sign + field + (rarely(20) ? pick("- ", "+\t", "!\u3000") : pick(WORDS) + star) + either(changes, weight);
        }
    }

    private String range() {
        String open = pick("[", "[", "{") + (rarely(4) ? pick(" ", "\t ") : "");
        String close = (rarely(4) ? pick(" ", " \t") : "") + pick("]", "]", "}");
        String to = rarely(10) ? pick(" TO\t", "\tTO ", " ") : pick(" TO ", "  TO  ", " \u3000 TO ");
        return open + pick(BOUNDS) + to + pick(BOUNDS) + close;
    }

    private String either(String one, String other) {
        return random.nextBoolean() ? one + other : other + one;
    }

    private boolean rarely(int times) {
        return random.nextInt(times) == 0;
    }

    /** A space, in one of some times. */
    private String space(int times) {
        return rarely(times) ? pick(SPACES) : "";
    }

    private String pick(String... texts) {
        return texts[random.nextInt(texts.length)];
    }
}
