//! How long is a number in a key, and in which order does it sort? As bytes, as text, and as a
//! hash.

use rowhouse::Result;
use rowhouse::key::KeySchema;

const ID: u64 = 1_234_567_890;

pub(crate) fn main() -> Result<()> {
    for (template, len, max_len) in [
        // Bytes.toBytes(1234567890L)
        ("[id u64]", 8, 8),
        // Bytes.toBytes("1234567890")
        ("[id decimal]", 10, 20),
        // String.format("%020d", 1234567890L)
        ("[id u64 digits]", 20, 20),
    ] {
        let schema = KeySchema::parse(template)?;
        let key = |id: u64| schema.encode(&[("id", id.into())]);
        let in_order = key(9)? < key(10)?;
        println!(
            "{template:16} {:2} bytes, at most {:2}; 9 before 10: {in_order}",
            key(ID)?.len(),
            key(u64::MAX)?.len()
        );
        assert_eq!((key(ID)?.len(), key(u64::MAX)?.len()), (len, max_len));
        assert_eq!(in_order, template != "[id decimal]");
        schema.check().iter().for_each(|finding| println!("  {finding}"));
    }
    hashes()
}

/// An MD5 hash has sixteen bytes. Converted to a Java string it becomes longer, by an amount that
/// depends on the charset, and is no longer the hash.
fn hashes() -> Result<()> {
    let schema = KeySchema::parse("[id decimal md5 16]")?;
    let digest = schema.encode(&[("id", ID.into())])?;
    let as_hex = KeySchema::parse("[id decimal md5 16 hex]")?.encode(&[("id", ID.into())])?;
    println!("{:16} {} bytes, {} in hexadecimal", schema.to_string(), digest.len(), as_hex.len());
    assert_eq!((digest.len(), as_hex.len()), (16, 32));

    // `new String(digest)` with UTF-8 as the default charset, as since Java 18.
    let utf8 = String::from_utf8_lossy(&digest);
    // The same with windows-1252.
    let windows: String = digest.iter().map(|byte| windows_1252(*byte)).collect();
    println!("new String(md5): {} bytes by UTF-8, {} by windows-1252", utf8.len(), windows.len());
    assert_eq!((utf8.len(), windows.len()), (34, 26));

    // All invalid UTF-8 sequences become the same character, so different hashes get the same key,
    // and no hash can be recovered.
    let mut other = digest.to_vec();
    other[0] ^= 1;
    assert_ne!(other, digest);
    assert_eq!(String::from_utf8_lossy(&other), utf8);
    println!(
        "{} and {} have one key",
        rowhouse::key::escape(&digest),
        rowhouse::key::escape(&other)
    );
    Ok(())
}

/// Decodes a windows-1252 byte. In 80 to 9F, where it differs from Unicode, only the bytes in the
/// hash above are mapped.
fn windows_1252(byte: u8) -> char {
    match byte {
        0x9B => '›',
        0x9F => 'Ÿ',
        byte => char::from(byte),
    }
}
