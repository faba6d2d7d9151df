import StrataLog
import StrataModel

/// Commits newest first, from change lists or one page of offsets at a time, so that a short listing reads little.
///
/// It returns the intact commits on both sides of damage.
struct LogFilterPages: CommitSupply {
    private struct Entry {
        let offset: UInt64
        /// Nil if the commit is read only when its turn comes.
        let commit: Commit?
        let reader: LogReader
    }

    /// The number of offsets in a page.
    private static let pageOffsets: UInt64 = 1_024
    /// The maximum bytes of payloads that a page holds; other commits are read again.
    private static let heldBytes = 8 << 20

    private var store: StoreAccess
    /// Nil for all commits.
    private var touches: ReversedTouches?
    private let first: UInt64
    /// The offset where the next page ends; below `first` if there is none.
    private var upper: UInt64
    /// Oldest first: entries are taken from the end.
    private var page: [Entry] = []
    private var foundDamage: StrataError?

    init(_ store: StoreAccess, _ subject: TouchedCommits.Subject?, from first: UInt64, through last: UInt64) {
        self.store = store
        self.first = first
        upper = min(last, store.reader.end.offset)
        touches = subject.map { ReversedTouches($0, of: store.reader, after: first - 1, through: upper) }
    }

    var damage: StrataError? { foundDamage ?? store.damage }
    /// Reads the part of the log before damage, if there is some.
    var reader: LogReader { store.reader }

    mutating func next() throws -> Commit? {
        while true {
            if touches != nil {
                do {
                    guard let offset = try touches?.next() else { return nil }
                    upper = offset - 1
                    if let commit = try commit(at: offset, of: store.reader) { return commit }
                } catch let error as StrataError where error.isDamage {
                    // Without change lists all commits are checked.
                    foundDamage = foundDamage ?? error
                    touches = nil
                }
            } else if let entry = page.popLast() {
                if let commit = try entry.commit ?? commit(at: entry.offset, of: entry.reader) { return commit }
            } else {
                guard upper >= first else { return nil }
                try readPage()
            }
        }
    }

    /// Returns nil if the commit cannot be read.
    private mutating func commit(at offset: UInt64, of reader: LogReader) throws -> Commit? {
        do { return try reader.commit(at: offset) } catch let error as StrataError where error.isDamage {
            foundDamage = foundDamage ?? error
            return nil
        }
    }

    private mutating func readPage() throws {
        let range = max(first, upper - min(upper, Self.pageOffsets) + 1)...upper
        do { page = try entries(range, of: store.reader) } catch let failure as PageFailure {
            foundDamage = foundDamage ?? failure.damage
            page = failure.whole
            goOn(after: failure, range)
        }
        upper = min(upper, range.lowerBound - 1)
    }

    // MARK: Damage

    /// The intact commits of a page, up to the damage.
    private struct PageFailure: Error {
        let whole: [Entry]
        let damage: StrataError
    }

    /// - Throws: ``PageFailure`` at the first damage.
    private func entries(_ range: ClosedRange<UInt64>, of reader: LogReader) throws -> [Entry] {
        var entries: [Entry] = []
        var byteCount = 0
        do {
            var cursor = try reader.read(from: range.lowerBound)
            while let commit = try cursor.next(), commit.offset <= range.upperBound {
                byteCount += commit.payload.count
                let held = byteCount <= Self.heldBytes ? commit : nil
                entries.append(Entry(offset: commit.offset, commit: held, reader: reader))
            }
        } catch let error as StrataError where error.isDamage {
            throw PageFailure(whole: entries, damage: error)
        }
        return entries
    }

    /// Finds the intact commits after the damage, and where to continue before it.
    private mutating func goOn(after failure: PageFailure, _ range: ClosedRange<UInt64>) {
        let reader = store.reader
        let lastWhole = page.last?.offset ?? range.lowerBound - 1
        var behind: [Entry] = []
        var offset = range.upperBound
        // Blocks of a sealed segment are read one by one, so some of them may be intact.
        while offset > lastWhole, (try? reader.commit(at: offset)) != nil {
            behind.append(Entry(offset: offset, commit: nil, reader: reader))
            offset -= 1
        }
        if page.isEmpty, !isSealed(segmentOf: range.lowerBound) { narrow(by: failure.damage, range) }
        page += behind.reversed()
    }

    /// Limits the store to the part before damage in an unsealed segment.
    private mutating func narrow(by damage: StrataError, _ range: ClosedRange<UInt64>) {
        guard let narrowed = store.narrowed(by: damage) else {
            upper = 0
            return
        }
        store = narrowed
        upper = min(upper, narrowed.reader.end.offset)
        guard upper >= range.lowerBound else { return }
        page = (try? entries(range.lowerBound...upper, of: narrowed.reader)) ?? []
    }

    /// Returns true if a segment is sealed and its footer is intact, so that its blocks can be read one by one.
    private func isSealed(segmentOf offset: UInt64) -> Bool {
        guard let segment = store.reader.segments.last(where: { $0.firstOffset <= offset }) else { return false }
        return (try? store.reader.names(of: segment)) != nil
    }
}
