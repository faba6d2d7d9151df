import StrataModel
import StrataSystem

/// The length and checksum of a commit's original payload, kept once data was erased from it: enough for the chain
/// (docs/format.md §28).
struct OriginalPayload: Sendable, Equatable {
    static let byteCount = 12

    var byteCount: UInt64
    var checksum: UInt32
}

extension OriginalPayload {
    init(of payload: ArraySlice<UInt8>) {
        byteCount = UInt64(payload.count)
        checksum = payload.withUnsafeBytes { CRC32C.checksum($0) }
    }
}

/// A commit to be added to a block.
struct CommitRow {
    var offset: UInt64
    var id: Identifier
    var time: Int64
    var chain: UInt32
    /// The original payload, if data was erased from it.
    var original: OriginalPayload?

    init(_ header: FrameHeader) {
        (offset, id, time, chain) = (header.offset, header.id, header.time, header.chain)
    }

    init(_ commit: Commit, original: OriginalPayload?) {
        (offset, id, time, chain) = (commit.offset, commit.id, commit.time, commit.chain)
        self.original = original
    }
}
