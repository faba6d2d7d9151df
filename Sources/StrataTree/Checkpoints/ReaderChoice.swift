import StrataModel
import StrataSystem

/// Chooses the checkpoint of a page file that a reader takes.
struct ReaderChoice {
    /// A checkpoint, and the header that names or keeps it.
    struct Candidate {
        var slot: Int
        var header: CheckpointHeader
        var kept: KeptRecord
    }

    let path: String
    /// The slot that announces the epoch to the writer.
    let slot: ReaderSlot
    let rules: SlotRules
    /// The highest offset that the reader accepts.
    let limit: UInt64

    /// The candidates, best first. They may disappear until their epoch is pinned.
    func candidates(in file: PageFile) throws -> [Candidate] {
        let headers = PageStore.newestFirst(file).compactMap { index in
            (try? CheckpointHeader.decode(try file.readSlot(index))).map { (index, $0) }
        }
        // Read after the headers: a file grows before a header names its new pages.
        let fileBytes = try file.file.size()
        var found: [Candidate] = []
        for (index, header) in headers where rules.objection(to: header, fileBytes: fileBytes, path: path) == nil {
            found.append(Candidate(slot: index, header: header, kept: KeptRecord(header)))
            guard header.position.offset > limit, let record = try? read(KeptRecord(header), in: file) else { continue }
            found += record.kept.map { Candidate(slot: index, header: header, kept: $0) }
        }
        found.removeAll { $0.kept.position.offset > limit }
        // At equal offsets, the checkpoint of the newer header comes first.
        return found.enumerated().sorted {
            let (a, b) = ($0.element.kept.position.offset, $1.element.kept.position.offset)
            return a == b ? $0.offset < $1.offset : a > b
        }.map(\.element)
    }

    /// The record of a checkpoint; nil if the checkpoint is unusable. Its header is known to be still there.
    ///
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    func record(
        of candidate: Candidate, in file: PageFile, isValid: (Position) throws -> Bool
    ) throws -> CheckpointRecord? {
        // Checks the position of the checkpoint itself, because the header's position does not matter for an older one.
        guard try isValid(candidate.kept.position) else { return nil }
        do { return try read(candidate.kept, in: file) } catch is StrataError { return nil }
    }

    private func read(_ kept: KeptRecord, in file: PageFile) throws -> CheckpointRecord {
        let bytes = try file.readRecord(kept.record, epoch: kept.epoch)
        return try CheckpointRecord.decode(bytes, pageCount: kept.pageCount, skipsRuns: true)
    }
}
