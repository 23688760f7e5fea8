use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Zstandard frames in chunks, as hbase-compression-zstd writes them.
fn zstd_in_chunks(payload: &[u8], chunk_len: usize) -> Vec<u8> {
    let mut encoder = ZstdEncoder::new();
    let mut out = Vec::new();
    write_chunks(payload, chunk_len, &mut out, |chunk, out| encoder.append(chunk, out));
    out
}

fn compress(compression: Compression, payload: &[u8]) -> Vec<u8> {
    let mut out = b"in front".to_vec();
    Compressor::new(compression, ZstdForm::Frame).append(payload, &mut out);
    out.split_off(8)
}

/// Bytes with near and far repetitions, runs and noise.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        vec(any::<u8>(), 0..200),
        vec(0u8..3, 0..300),
        (any::<u8>(), 0usize..3_000).prop_map(|(byte, len)| vec![byte; len]),
        (0u32..50).prop_map(|row| format!("row{row:08}/family:qualifier").into_bytes()),
    ];
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Runs an eighth of the default cases, because each one tests all codecs.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / 8, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn payloads_come_back(payloads in vec(payload(), 1..4)) {
        for compression in Compression::ALL {
            // Reuse one compressor, as in a file.
            let mut compressor = Compressor::new(compression, ZstdForm::Frame);
            for payload in &payloads {
                let mut bytes = Vec::new();
                compressor.append(payload, &mut bytes);
                prop_assert_eq!(&decompress(compression, &bytes, payload.len()).unwrap(), payload);
            }
        }
        for payload in &payloads {
            for chunk_len in [100, 1 << 18] {
                let bytes = zstd_in_chunks(payload, chunk_len);
                let read = decompress(Compression::Zstd, &bytes, payload.len()).unwrap();
                prop_assert_eq!(&read, payload);
            }
        }
    }

    #[test]
    fn damage_is_an_error_or_harmless_but_never_a_panic(
        payload in payload(),
        flips in vec((any::<prop::sample::Index>(), 1u8..), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut forms: Vec<_> =
            Compression::ALL.map(|compression| (compression, compress(compression, &payload))).into();
        forms.push((Compression::Zstd, zstd_in_chunks(&payload, 1000)));
        for (compression, bytes) in forms {
            for len in [0, 1, payload.len() / 2, payload.len() + 1, payload.len() * 2] {
                let read = decompress(compression, &bytes, len);
                prop_assert_eq!(read.is_ok(), len == payload.len(), "{:?} {}", compression, len);
            }
            if !bytes.is_empty() {
                let mut damaged = bytes.clone();
                for (at, flip) in &flips {
                    let at = at.index(damaged.len());
                    damaged[at] ^= flip;
                }
                let _ = decompress(compression, &damaged, payload.len());
                let cut = cut.index(bytes.len());
                // A frame or chunk may have insignificant bytes after the last significant one.
                let read = decompress(compression, &bytes[..cut], payload.len());
                prop_assert!(read.is_err() || payload.is_empty(), "{:?} {}", compression, cut);
            }
        }
    }

    #[test]
    fn garbage_is_never_a_panic(bytes in vec(any::<u8>(), 0..400), len in 0usize..5_000) {
        for compression in Compression::ALL {
            let _ = decompress(compression, &bytes, len);
            let framed = [&[0, 0, 0x13, 0x88, 0, 0, 0, bytes.len() as u8], &bytes[..]].concat();
            let _ = decompress(compression, &framed, 5_000);
            let zstd = [&[0x28, 0xB5, 0x2F, 0xFD], &bytes[..]].concat();
            let _ = decompress(compression, &zstd, len);
            let gzip = [&[0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0], &bytes[..]].concat();
            let _ = decompress(compression, &gzip, len);
        }
    }
}

#[test]
fn an_empty_payload_is_written_as_by_hadoop() {
    assert_eq!(compress(Compression::Snappy, b""), [0; 4]);
    assert_eq!(compress(Compression::Lz4, b""), [0; 4]);
    let gzip = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(compress(Compression::Gz, b""), gzip);
    for compression in Compression::ALL {
        assert_eq!(decompress(compression, &compress(compression, b""), 0).unwrap(), b"");
    }
}

#[test]
fn long_payloads_are_cut_where_hadoop_cuts_them() {
    let payload = vec![7; 600_000];
    for (compression, chunk_len) in [(Compression::Snappy, 218_422), (Compression::Lz4, 261_100)] {
        let bytes = compress(compression, &payload);
        let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        assert_eq!(number(0), payload.len());
        let mut at = 4;
        let mut chunks = Vec::new();
        while at < bytes.len() {
            let mut out = vec![0; payload.len()];
            let chunk = &bytes[at + 4..][..number(at)];
            chunks.push(match compression {
                Compression::Snappy => {
                    snap::raw::Decoder::new().decompress(chunk, &mut out).unwrap()
                }
                _ => lz4_flex::block::decompress_into(chunk, &mut out).unwrap(),
            });
            at += 4 + number(at);
        }
        assert_eq!(chunks, [chunk_len, chunk_len, payload.len() - 2 * chunk_len]);
        assert_eq!(decompress(compression, &bytes, payload.len()).unwrap(), payload);
    }
}

#[test]
fn incompressible_payload_is_written_longer() {
    let mut state = 1u64;
    let noise: Vec<u8> = (0..70_000)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect();
    for compression in Compression::ALL {
        let bytes = compress(compression, &noise);
        assert!(bytes.len() >= noise.len(), "{compression:?}");
        assert_eq!(decompress(compression, &bytes, noise.len()).unwrap(), noise);
    }
}

#[test]
fn lengths_beyond_the_input_allocate_nothing() {
    for compression in Compression::ALL {
        let bytes = compress(compression, b"short");
        let broken = decompress(compression, &bytes, i32::MAX as usize).unwrap_err();
        assert!(matches!(broken, Malformed::Short { .. }), "{compression:?}: {broken}");
    }
    // A frame with zero runs that declares a 128 MiB window, for a 5-byte block.
    let run = [&[0x28, 0xB5, 0x2F, 0xFD, 0, 0x88][..], &[2, 0, 16, 0].repeat(2_000)].concat();
    let broken = decompress(Compression::Zstd, &run, 5).unwrap_err();
    assert!(matches!(broken, Malformed::Long { want: 5 }), "{broken}");
}

#[test]
fn runs_of_chunks_are_read_as_one_payload() {
    let mut bytes = compress(Compression::Lz4, b"first, ");
    bytes.extend(compress(Compression::Lz4, b"second"));
    assert_eq!(decompress(Compression::Lz4, &bytes, 13).unwrap(), b"first, second");
    let frames = [compress(Compression::Zstd, b"first, "), compress(Compression::Zstd, b"second")];
    assert_eq!(decompress(Compression::Zstd, &frames.concat(), 13).unwrap(), b"first, second");
}

#[test]
fn zstd_in_chunks_begins_with_the_length_and_has_chunks_that_hbase_has_room_for() {
    let payload: Vec<u8> = (0..600_000u64).map(|at| ((at * at) >> 7) as u8).collect();
    let mut bytes = Vec::new();
    Compressor::new(Compression::Zstd, ZstdForm::Chunks).append(&payload, &mut bytes);
    assert_eq!(bytes[..4], 600_000u32.to_be_bytes());
    assert_eq!(bytes[8..12], [0x28, 0xB5, 0x2F, 0xFD], "a frame after the length of the chunk");
    let mut chunks = Vec::new();
    let mut read = vec![0; payload.len()];
    let mut decoder = ruzstd::decoding::FrameDecoder::new();
    read_chunks(&bytes, &mut read, |chunk, out| {
        let len = decoder.decode_all(chunk, out).map_err(Malformed::codec)?;
        chunks.push(len);
        Ok(len)
    })
    .unwrap();
    assert_eq!(chunks, [261_120, 261_120, 77_760]);
    assert!(read == payload);
    assert!(decompress(Compression::Zstd, &bytes, payload.len()).unwrap() == payload);
}
