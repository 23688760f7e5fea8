import com.sematext.hbase.wd.AbstractRowKeyDistributor;
import com.sematext.hbase.wd.RowKeyDistributorByHashPrefix;
import com.sematext.hbase.wd.RowKeyDistributorByHashPrefix.OneByteSimpleHash;
import com.sematext.hbase.wd.RowKeyDistributorByOneBytePrefix;

/** HBaseWD's two distributors, which put one byte before the key. */
final class HbaseWd {
  /** Its hash is Integer.MIN_VALUE, which Math.abs leaves negative. */
  private static final byte[] LEAST_HASH = Vectors.utf8("jpophhog");

  private static final byte[][] KEYS = {
    Vectors.bytes(), Vectors.utf8("a"), Vectors.utf8("ab"), Vectors.utf8("foo0001"), Vectors.utf8("foo0002"), Vectors.utf8("user10"),
    Vectors.utf8("東京"), Vectors.bytes(0), Vectors.bytes(0, 0, 0), Vectors.bytes(0xff), Vectors.bytes(0x80), Vectors.bytes(0x7f, 0xff, 0, 1),
    Vectors.bytes(0, 0, 1, 0x84, 0xca, 0xd2, 0x48, 0), LEAST_HASH
  };

  public static void main(String[] args) {
    Vectors.header("HBaseWD's prefixes; value: the key as it was", AbstractRowKeyDistributor.class);
    for (int buckets : new int[] {1, 4, 7, 16, 200, 256}) {
      AbstractRowKeyDistributor distributor = new RowKeyDistributorByHashPrefix(new OneByteSimpleHash(buckets));
      for (byte[] key : KEYS) {
        Vectors.attempt("hbasewd.hash " + buckets, Vectors.hex(key), () -> distributor.getDistributedKey(key));
      }
    }
    for (int buckets : new int[] {0, 257}) {
      Vectors.attempt("hbasewd.hash " + buckets, "0x61", () ->
          new RowKeyDistributorByHashPrefix(new OneByteSimpleHash(buckets)).getDistributedKey(Vectors.utf8("a")));
    }
    Vectors.note("The other distributor counts: the first, second, third ... key that one process writes.");
    AbstractRowKeyDistributor counting = new RowKeyDistributorByOneBytePrefix((byte) 3);
    for (int i = 0; i < 5; i++) {
      Vectors.vector("hbasewd.one 3", "0x61", counting.getDistributedKey(Vectors.utf8("a")));
    }
  }
}
