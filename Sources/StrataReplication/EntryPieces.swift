import StrataLog
import StrataModel
import StrataSystem

/// The entries in which a batch of commits is sent: one, or the parts of a commit that is too long for one, and the
/// entry that they belong to.
struct EntryPieces {
    struct Piece {
        let id: Identifier
        let bytes: [UInt8]
    }

    private let pieces: [Piece]

    /// The entry that is valid or void; the pieces before it are void.
    var last: Piece { pieces[pieces.count - 1] }

    /// True if the entry is sent as it is, without parts.
    var isOne: Bool { pieces.count == 1 }

    /// Returns the piece to send after `count` parts were read.
    func next(afterParts count: Int) -> Piece { pieces[min(count, pieces.count - 1)] }

    func isLast(afterParts count: Int) -> Bool { count >= pieces.count - 1 }

    init(of entry: SequencedEntry, maximumBytes: Int, random: any RandomSource) {
        let bytes = entry.encoded()
        guard bytes.count > maximumBytes, case .commits(let commits) = entry.content else {
            pieces = [Piece(id: entry.id, bytes: bytes)]
            return
        }
        let content = bytes[SequencedEntry.headerBytes..<(bytes.count - SequencedEntry.checksumBytes)]
        let step = EntryPart.maximumBytes(in: maximumBytes)
        // IMPORTANT: callers send only commits that fit into the parts.
        precondition(step > 0, "a sequencer with room for a part")
        var pieces: [Piece] = []
        for start in stride(from: content.startIndex, to: content.endIndex, by: step) {
            let slice = Array(content[start..<min(start + step, content.endIndex)])
            var part = entry
            part.id = random.nextIdentifier()
            part.content = .part(EntryPart(of: entry.id, index: UInt32(pieces.count), bytes: slice))
            pieces.append(Piece(id: part.id, bytes: part.encoded()))
        }
        var whole = entry
        whole.content = .whole(WholeEntry(commitCount: commits.count, partCount: pieces.count, of: Array(content)))
        self.pieces = pieces + [Piece(id: entry.id, bytes: whole.encoded())]
    }

    /// Returns the maximum length of the payload of a commit on a sequencer whose entries have at most `bytes`.
    static func maximumPayloadBytes(in bytes: Int) -> Int {
        let content = max(
            SequencedEntry.maximumContentBytes(in: bytes), EntryPart.maximumCount * EntryPart.maximumBytes(in: bytes))
        return max(0, content - SequencedEntry.commitHeaderBytes)
    }
}
