import StrataSystem

/// The recently used blocks of all sealed segments of a log, decompressed.
final class BlockCache: Sendable {
    struct Key: Hashable, Sendable {
        private let salt: UInt32
        private let firstOffset: UInt64
        private let position: Int

        init(salt: UInt32, firstOffset: UInt64, _ position: Int) {
            self.salt = salt
            self.firstOffset = firstOffset
            self.position = position
        }
    }

    private static let maximumBytes = 8 << 20
    /// The maximum size of a cached block: that of one large commit would evict all others.
    private static let maximumBlockBytes = 1 << 20

    private struct State {
        var blocks: [Key: (block: Block, lastUse: UInt64)] = [:]
        var bytes = 0
        var uses: UInt64 = 0

        mutating func removeOldest() {
            guard let oldest = blocks.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
            bytes -= oldest.value.block.bytes.count
            blocks[oldest.key] = nil
        }
    }

    private let state = Lock(State())

    subscript(key: Key) -> Block? {
        get {
            state.withLock { state in
                state.uses += 1
                let uses = state.uses
                return { (entry: inout (block: Block, lastUse: UInt64)?) in
                    entry?.lastUse = uses
                    return entry?.block
                }(&state.blocks[key])
            }
        }
        set {
            guard let newValue, newValue.bytes.count <= Self.maximumBlockBytes else { return }
            state.withLock { state in
                state.uses += 1
                if let known = state.blocks.updateValue((newValue, state.uses), forKey: key) {
                    state.bytes -= known.block.bytes.count
                }
                state.bytes += newValue.bytes.count
                while state.bytes > Self.maximumBytes { state.removeOldest() }
            }
        }
    }
}
