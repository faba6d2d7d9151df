import StrataLog
import StrataModel

let log = try SegmentedLog.open(at: "Notes.strata")  // makes the store if there is none
let queue = try CommitQueue(log)  // shares writes and syncs between callers

var note = ByteWriter()
note.appendVarint(1)  // zone, by its ordinal
note.appendVarint(1)  // record type, by its ordinal
note.appendString("note-1")  // record name
note.append(bytes: "Buy milk".utf8)  // the rest is yours

var envelope = Envelope(header: .init(operationKind: .modifyRecords))
if log.end == .start {
    // Names get their ordinals before their first use.
    let names: [InternedName.Name] = [
        .user("anna"), .database(.private, owner: 1), .zone(database: 1, owner: 1, "Notes"), .recordType("Note"),
    ]
    envelope.events += names.map { InternedName(ordinal: 1, name: $0).event }
}
envelope.events.append(Event(.recordSaved, body: note.bytes[...]))

let position = try queue.commit(envelope.encoded()[...])
print("commit \(position.offset) is on the medium")  // it would survive a loss of power from here on

var cursor = try log.read(from: 1)
while let commit = try cursor.next() {
    let events = try Envelope(decoding: commit.payload).events
    print(commit.offset, events.map(\.kind.description))
}
queue.close()
try log.close()
