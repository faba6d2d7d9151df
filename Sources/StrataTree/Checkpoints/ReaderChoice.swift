import StrataModel
import StrataSystem

/// Which checkpoint of a page file a reader takes.
struct ReaderChoice {
    /// A checkpoint, and the header that it has or that keeps it.
    struct Candidate {
        var slot: Int
        var header: CheckpointHeader
        var kept: KeptRecord
    }

    let path: String
    /// Tells the writer what is being read.
    let slot: ReaderSlot
    let rules: SlotRules
    /// Later offsets are not wanted.
    let limit: UInt64

    /// The best one first. Nothing of it is certain before its epoch is pinned.
    func candidates(in file: PageFile) throws -> [Candidate] {
        let headers = PageStore.newestFirst(file).compactMap { index in
            (try? CheckpointHeader.decode(try file.readSlot(index))).map { (index, $0) }
        }
        // Asked behind the headers: a file grows before a header names what is new in it.
        let fileBytes = try file.file.size()
        var found: [Candidate] = []
        for (index, header) in headers where rules.objection(to: header, fileBytes: fileBytes, path: path) == nil {
            found.append(Candidate(slot: index, header: header, kept: KeptRecord(header)))
            guard header.position.offset > limit, let record = try? read(KeptRecord(header), in: file) else { continue }
            found += record.kept.map { Candidate(slot: index, header: header, kept: $0) }
        }
        found.removeAll { $0.kept.position.offset > limit }
        // That of the newer header comes first.
        return found.enumerated().sorted {
            let (a, b) = ($0.element.kept.position.offset, $1.element.kept.position.offset)
            return a == b ? $0.offset < $1.offset : a > b
        }.map(\.element)
    }

    /// What a checkpoint says of its state; nil if it cannot be taken. Its header is known to be there still.
    ///
    /// - Parameter isValid: whether the log has that chain value at that offset.
    func record(
        of candidate: Candidate, in file: PageFile, isValid: (Position) throws -> Bool
    ) throws -> CheckpointRecord? {
        // What the log had when the header was written does not matter for an older checkpoint.
        guard try isValid(candidate.kept.position) else { return nil }
        do { return try read(candidate.kept, in: file) } catch is StrataError { return nil }
    }

    private func read(_ kept: KeptRecord, in file: PageFile) throws -> CheckpointRecord {
        let bytes = try file.readRecord(kept.record, epoch: kept.epoch)
        return try CheckpointRecord.decode(bytes, pageCount: kept.pageCount, skipsRuns: true)
    }
}
