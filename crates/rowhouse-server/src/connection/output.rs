//! A connection's answers that wait to be written.

use std::collections::VecDeque;

use bytes::{Buf, BytesMut};

use crate::answer::Answer;
use crate::limits::BUFFER_KEEP_BYTES;
use crate::memory::{Reserved, SMALL_ANSWER_BYTES};

/// Answers to long calls up to this size are joined, so that several take one write.
const JOINED_BYTES_MAX: usize = 16 << 10;

/// Maximum capacity in bytes for a buffer that is retained for the next answer while calls come: a
/// new one with this size would be new pages.
const BUSY_BUFFER_KEEP_BYTES: usize = SMALL_ANSWER_BYTES as usize;

/// Answers in the order in which they are written: answers to small calls first.
#[derive(Default)]
pub(super) struct Output {
    small: BytesMut,
    /// Bytes in `small` that are written.
    written: usize,
    /// Held until `small` is written completely.
    turn: Option<Reserved>,
    large: VecDeque<Answer>,
}

impl Output {
    /// Holds the memory for small answers that are about to be made.
    pub(super) fn reserve(&mut self, turn: Option<Reserved>) {
        self.turn = turn;
    }

    /// Where small answers are appended.
    pub(super) fn small(&mut self) -> &mut BytesMut {
        &mut self.small
    }

    /// Returns true if the small answers are to be written before more are made.
    pub(super) fn is_full(&self) -> bool {
        self.small.len() as u64 > SMALL_ANSWER_BYTES
    }

    /// Adds the answer to a long call.
    pub(super) fn push(&mut self, answer: Answer) {
        if answer.bytes.len() <= JOINED_BYTES_MAX && !self.is_full() {
            self.small.extend_from_slice(&answer.bytes);
        } else {
            self.large.push_back(answer);
        }
    }

    /// Returns the bytes to write next.
    pub(super) fn first(&mut self) -> Option<&[u8]> {
        if self.written < self.small.len() {
            return Some(&self.small[self.written..]);
        }
        self.end_small();
        self.large.front().map(|answer| &answer.bytes[..])
    }

    /// Notes that so many bytes in [`Output::first`] are written.
    pub(super) fn advance(&mut self, bytes: usize) {
        if self.written < self.small.len() {
            self.written += bytes;
            return;
        }
        let Some(answer) = self.large.front_mut() else { return };
        answer.bytes.advance(bytes);
        if answer.bytes.is_empty() {
            self.large.pop_front();
        }
    }

    /// Gives back memory that the answers do not need. The client may take them late.
    pub(super) fn shrink(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.shrink_to(self.small.capacity() as u64);
        }
    }

    fn end_small(&mut self) {
        self.small.clear();
        self.written = 0;
        if self.small.capacity() > BUSY_BUFFER_KEEP_BYTES {
            self.small = BytesMut::new();
        }
        self.turn = None;
    }

    /// Returns true if there is a buffer that a connection without calls does not keep.
    pub(super) fn has_spare(&self) -> bool {
        self.small.capacity() > BUFFER_KEEP_BYTES && self.small.is_empty()
    }

    /// Frees that buffer.
    pub(super) fn free_spare(&mut self) {
        self.small = BytesMut::new();
    }
}
