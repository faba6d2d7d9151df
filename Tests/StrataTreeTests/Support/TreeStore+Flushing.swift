import StrataModel

@testable import StrataTree

extension TreeStore {
    /// Writes all changes as runs of a state at an offset.
    func flushAll(at offset: UInt64, opaque: [UInt8] = [], floor: UInt64 = 0) throws {
        try freeze()
        while let waiting = nextToFlush() {
            try flush(waiting, at: Position(offset: offset, chain: 1), opaque: opaque, floor: floor)
        }
    }
}
