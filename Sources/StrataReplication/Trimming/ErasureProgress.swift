import StrataModel
import StrataSystem

/// The last erasure among the entries that a sequencer has, and the copies that have not carried it out yet.
package struct ErasureProgress: Sendable {
    /// A copy that still has the data, as far as it has noted.
    package struct Copy: Sendable {
        /// The copy's directory on its machine.
        package let path: String
        /// The time of its last note, in microseconds since 1970.
        package let time: Int64
    }

    /// The commit of the erasure.
    package let offset: UInt64
    /// The sequencer has the data until it is trimmed before this commit, or a later one.
    package let trimBefore: UInt64
    /// The copies that have not carried it out, and the number of all copies; nil if they cannot be listed.
    package let waiting: [Copy]?
    package let copyCount: Int

    /// - Parameters:
    ///   - history: the history of the sequencer's entries, which were read to the last one.
    ///   - filesDirectory: the directory that all processes share; nil if there is none.
    package init?(
        _ history: SequencedHistory, in filesDirectory: String?, _ platform: Platform = Platform()
    ) throws {
        guard let erasure = history.lastErasure else { return nil }
        (offset, trimBefore) = (erasure.offset, erasure.entryEnd + 1)
        let notes = try filesDirectory.map {
            try CopyNotes(in: $0, platform.files).all(now: platform.time.nowMicroseconds())
        }
        copyCount = notes?.count ?? 0
        waiting = notes?.filter { $0.erased ?? 0 < erasure.offset }
            .map { Copy(path: $0.path, time: $0.time) }.sorted { $0.path < $1.path }
    }
}

extension Envelope {
    /// Returns true for a payload with an event that erases a record.
    static func erases(_ payload: ArraySlice<UInt8>) -> Bool {
        payload.withUnsafeBytes { bytes in
            // Bytes that are not an envelope erase nothing.
            guard var walker = try? EventWalker(bytes) else { return false }
            while let event = try? walker.next() { if event.kind == .recordErased { return true } }
            return false
        }
    }
}
