/** Texts of the filter language, and regular expressions with texts to find them in. */
final class FilterTexts {
  static final String[] ALL = {
    "KeyOnlyFilter()", "KeyOnlyFilter(true)", "FirstKeyOnlyFilter()", "FirstKeyOnlyFilter ()", "PrefixFilter('row')", "PrefixFilter ( 'row' )",
    "PrefixFilter('')", "PrefixFilter('it''s')", "PrefixFilter('''')", "PrefixFilter('a,b)(')", "PrefixFilter('ü東😀')",
    "ColumnPrefixFilter('q')", "MultipleColumnPrefixFilter('a', 'b', 'c')", "MultipleColumnPrefixFilter('b','a')", "MultipleColumnPrefixFilter()",
    "MultipleColumnPrefixFilter('a','a')", "ColumnCountGetFilter(4)", "ColumnCountGetFilter(-1)", "ColumnCountGetFilter(2147483647)",
    "ColumnCountGetFilter(2147483648)", "PageFilter(10)", "PageFilter(9223372036854775807)", "PageFilter(9223372036854775808)", "PageFilter('10')",
    "PageFilter(1, 2)", "PageFilter()", "PageFilter(x)", "ColumnPaginationFilter(3, 5)", "ColumnPaginationFilter(3)", "InclusiveStopFilter('row')",
    "TimestampsFilter(5, 1, 3)", "TimestampsFilter()", "TimestampsFilter(-5)", "TimestampsFilter(1 2\t3)", "RowFilter(=, 'binary:abc')",
    "RowFilter (!=, 'binaryprefix:abc')", "RowFilter(<, 'binary:a')", "RowFilter(<=, 'binary:a')", "RowFilter(>, 'binary:a')", "RowFilter(>=, 'binary:a')",
    "RowFilter(=, 'regexstring:^a.*$')", "RowFilter(=, 'regexstringnocase:^a')", "RowFilter(=, 'substring:ABC')", "RowFilter(<, 'substring:abc')",
    "RowFilter(>, 'regexstring:a')", "RowFilter(=, 'regexstring:(?i)a')", "RowFilter(=, 'regexstring:(')", "RowFilter(==, 'binary:a')",
    "RowFilter(=, 'binary:a:b')", "RowFilter(=, 'binary')", "RowFilter(=, 'long:5')", "RowFilter(=, binary:a)", "RowFilter(=)", "RowFilter(=,'binary:')",
    "RowFilter(='binary:a')", "FamilyFilter(=, 'binary:f')", "QualifierFilter(=, 'substring:q')", "ValueFilter(!=, 'binary:v')",
    "ColumnRangeFilter('a', true, 'b', false)", "ColumnRangeFilter('', FALSE, '', True)", "ColumnRangeFilter('a', yes, 'b', no)",
    "ColumnRangeFilter('a', true)", "SingleColumnValueFilter('f', 'q', =, 'binary:v')", "SingleColumnValueFilter('f', 'q', >=, 'binary:v', true, false)",
    "SingleColumnValueFilter('f', 'q', =, 'binary:v', true)", "SingleColumnValueFilter('f','q',<,'regexstring:v')",
    "SingleColumnValueExcludeFilter('f', 'q', =, 'binary:v')", "SingleColumnValueExcludeFilter('f', 'q', !=, 'substring:V', true, true)",
    "ColumnValueFilter('f', 'q', <, 'binary:v')", "ColumnValueFilter('f', 'q', <, 'substring:v')", "DependentColumnFilter('f', 'q')",
    "DependentColumnFilter('f', 'q', true)", "DependentColumnFilter('f', 'q', true, <, 'binary:v')", "DependentColumnFilter('f', 'q', false, <, 'substring:v')",
    "DependentColumnFilter('f')", "FuzzyRowFilter('a')", "NoFilter()", "PrefixFilter", "PrefixFilter('a'", "PrefixFilter('a", "", " ", "()", "(", ")",
    "KeyOnlyFilter() AND FirstKeyOnlyFilter()", "KeyOnlyFilter() OR FirstKeyOnlyFilter() OR PageFilter(1)",
    "KeyOnlyFilter() AND FirstKeyOnlyFilter() AND PageFilter(1) AND PageFilter(2)", "KeyOnlyFilter() AND FirstKeyOnlyFilter() OR PageFilter(1)",
    "KeyOnlyFilter() OR FirstKeyOnlyFilter() AND PageFilter(1)", "PageFilter(1) OR PageFilter(2) AND PageFilter(3) OR PageFilter(4)",
    "(KeyOnlyFilter() OR FirstKeyOnlyFilter()) AND PageFilter(1)", "PageFilter(1) AND (PageFilter(2) OR PageFilter(3))",
    "(PageFilter(1) AND PageFilter(2)) AND PageFilter(3)", "((PageFilter(1)))", "(PageFilter(1)) OR (PageFilter(2))", "(PageFilter(1))OR(PageFilter(2))",
    "(PageFilter(1) OR PageFilter(2) AND PageFilter(3))", "(PageFilter(1) AND PageFilter(2) OR PageFilter(3))",
    "((PageFilter(1) AND PageFilter(2)) OR PageFilter(3)) AND PageFilter(4)", "(PageFilter(1) AND (PageFilter(2) OR PageFilter(3)))",
    "SKIP PageFilter(1)", "WHILE PageFilter(1)", "SKIP SKIP PageFilter(1)", "SKIP WHILE PageFilter(1)", "SKIP PageFilter(1) AND PageFilter(2)",
    "PageFilter(1) AND SKIP PageFilter(2)", "SKIP (PageFilter(1) OR PageFilter(2))", "WHILE(PageFilter(1) AND PageFilter(2))",
    "(SKIP PageFilter(1))", "(SKIP PageFilter(1)) AND PageFilter(2)", "PageFilter(1) OR WHILE PageFilter(2) AND SKIP PageFilter(3)",
    "SKIP", "PageFilter(1) AND", "AND PageFilter(1)", "PageFilter(1) PageFilter(2)", "PageFilter(1) XOR PageFilter(2)", "PageFilter(1) and PageFilter(2)",
    "(PageFilter(1)", "PageFilter(1))", "PageFilter(1)\nAND PageFilter(2)", "\tPageFilter(1) ", "PageFilter(1)\tAND PageFilter(2)",
    "RowFilter(=, 'substring:hi') AND (PrefixFilter('x') OR (ColumnPrefixFilter('y') AND ValueFilter(=, 'binary:z')))",
    "(SKIP ColumnCountGetFilter(3)) AND WHILE (PrefixFilter('AND') OR PrefixFilter(' OR '))",
  };

  static final int[] FLAGS = {0, 0x20, 0x02, 0x42, 0x08, 0x01, 0x09, 0x04, 0x10, 0x100, 0x102};

  static final String[] EXPRESSIONS = {
    "", "a", "abc", "a.c", "^a", "c$", "^abc$", "^", "$", "a|b", "(a|b)+c", "[abc]", "[^abc]", "[a-c&&[^b]]", "[a-z&&[def]]", "[a[xy]]", "[]a]", "[^]a]",
    "[a-]", "[-a]", "[a&b]", "[^a[bc]]", "[\\w&&[^\\d]]", "[\\Qa-c\\E]", "\\d", "\\D", "\\w+", "\\W", "\\s", "\\S", "\\h", "\\v", "\\H", "\\V", "\\R", "\\bé", "\\bb",
    "c\\b", "\\Bb", "a\\B", "\\Aa", "c\\z", "c\\Z", "\\Ga", "a*+a", "a++b", "(?>a+)ab", "a??b", "a{2}", "a{2,}", "a{1,2}b", "a{2,3}+a", "x{0}", "(a)\\1", "(a)(b)\\2",
    "\\1(a)", "(?<n>a)\\k<n>", "(?=a)a", "(?!a)b", "(?<=a)b", "(?<!a)b", "(?<=a|bc)d", "(?<=a{1,3})b", "(?i)ABC", "(?i:A)bc", "a(?i)B(?-i)c", "((?i)a)B", "(?s)a.c",
    "(?m)^b$", "(?x) a b # c", "(?d)a.c", "(?u)É", "(?iu)É", "(?iu)k", "(?i)k", "(?U)\\w", "\\Qa.c\\E", "\\Q.*", "\\x41", "\\x{1F600}", "\\u0041", "\\uD83D\\uDE00", "\\0101",
    "\\cA", "\\t", "\\e", "\\.", "\\-", "\\p{L}", "\\pL", "\\P{L}", "\\p{Lu}", "\\p{Lower}", "\\p{Upper}", "\\p{Alpha}", "\\p{Punct}", "\\p{ASCII}", "\\p{IsAlphabetic}",
    "\\p{IsGreek}", "\\p{sc=Latin}", "\\p{script=Greek}", "\\p{gc=Nd}", "\\p{Space}", "\\p{XDigit}", "\\p{IsUppercase}", "[\\p{L}&&[^\\p{Lu}]]", "[^\\p{Lower}]", "ä",
    "[ä-ö]", "É", "é", "ß", "s", "k", "[k-s]", "[^k]", "😀", "^.$", ".{2}", "a b", "a#b", "[a b]", "[a#b]", "a\\ b", "{", "}", "]", "a{", "*", "a**", "(", ")", "[", "[a", "[z-a]",
    "a{2,1}", "\\y", "\\", "(?z)a", "(?<1>a)", "\\k<n>", "(?:", "a|", "|a", "()", "()*", "(a*)*", "(a*)+b", "(?:a|ab)(?:c|bcd)$", "^(\\w+)\\s\\1$", "$^", "\\n", "[\\n]", "a$b",
    "x*$", "\\r$", "(?m)a$", "(?m)$", "^\\s*$", "[[:alpha:]]", "[a-c[x-z]&&[b-y]]", "[&&a]", "[a&&]", "[a-\\d]", "\\p{Foo}", "+", "a+?b", "(?i)[A-C]", "(?i)[^A-C]",
  };

  static final String[] TEXTS = {
    "", "a", "A", "b", "ab", "abc", "ABC", "aaa", "aab", "aabb", "bcd", "cab", "a c", "a\nc", "a\rc", "a\r\nc", "a\u0085c", "abc\n", "abc\r\n", "abc\n\n", "\n", "\r\n", "a\nb\nc",
    "xé", "é", "É", "ä", "ß", "\u212A", "ſ", "K", "α", "٥", "5", "_", "-", ".", "a.c", "{}", "[]", "]", "&", "#", "a b", "a#b", "😀", "a😀b", "\t", "\u0001", "\u001b", "\u00a0", "\u2028",
    "word word", "e\u0301", "xyz", "a-c", "#ab", "Ⅷ", "\\", "*",
  };

  private FilterTexts() {}
}
