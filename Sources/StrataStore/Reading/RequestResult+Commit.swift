import StrataLog
import StrataModel

/// The outcome of a request, read from the commit that holds it (docs/format.md §20).
extension RequestResult {
    /// - Parameter request: the request that the commit must be of, as far as its shape shows; nil for any.
    /// - Throws: `.malformed` if the commit is not of such a request.
    init(of commit: Commit, as request: Request? = nil) throws {
        self = try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let shape = try RequestShape(decoding: try walker.header().requestShape)
            if let request, !shape.fits(request) { throw Self.mismatch(commit.offset) }
            var saved: [Version] = []
            while true {
                let index = UInt32(walker.eventIndex)
                guard let event = try walker.next() else { break }
                guard index >= shape.firstItemEvent else { continue }
                let version = Version(offset: commit.offset, eventIndex: index)
                switch event.kind {
                case .recordSaved:
                    let isItem = try RecordSavedView(payload, in: event.body).change != .touch
                    if isItem, shape.kind == .modifyRecords { saved.append(version) }
                case .zoneSaved, .subscriptionSaved: saved.append(version)
                default: break
                }
            }
            guard shape.consequenceCount <= saved.count else { throw Self.mismatch(commit.offset) }
            saved.removeLast(shape.consequenceCount)
            return try RequestResult(shape, saved, offset: commit.offset)
        }
    }

    private init(_ shape: RequestShape, _ saved: [Version], offset: UInt64) throws {
        self.init(
            saves: Array(repeating: .failure(Refusal(.internalError, "")), count: shape.saveCount),
            deletes: Array(repeating: nil, count: shape.deleteCount))
        var bases: IndexingIterator<[Version?]> = [].makeIterator()
        if case .modifyRecords(let body)? = shape.request?.content { bases = body.saves.map(\.base).makeIterator() }
        var isLeftOut = Array(repeating: false, count: shape.saveCount)
        for item in shape.leftOut {
            let count = item.list == .saves ? shape.saveCount : shape.deleteCount
            guard item.index < count else { throw Self.mismatch(offset) }
            switch item.list {
            case .saves:
                isLeftOut[item.index] = true
                let base = bases.next() ?? nil
                if var refusal = item.refusal {
                    if [.serverRecordChanged, .unknownItem].contains(refusal.code) { refusal.baseVersion = base }
                    saves[item.index] = .failure(refusal)
                } else {
                    let version = item.version ?? Version(offset: 0, eventIndex: 0)
                    saves[item.index] = .success(shape.kind == .joinShares ? version.resolved(in: offset) : version)
                }
            case .deletes: deletes[item.index] = item.refusal
            }
        }
        var next = saved.makeIterator()
        for index in saves.indices where !isLeftOut[index] {
            guard let version = next.next() else { throw Self.mismatch(offset) }
            saves[index] = .success(version)
        }
        guard next.next() == nil else { throw Self.mismatch(offset) }
    }

    static func mismatch(_ offset: UInt64, _ found: String? = nil) -> StrataError {
        StrataError(
            .malformed, "The shape of a commit's request does not match its events.",
            .init(offset: offset, found: found))
    }
}
