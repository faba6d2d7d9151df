import StrataLog
import StrataModel
import StrataViews

let log = try SegmentedLog.open(at: "Notes.strata")  // makes the store if there is none
let queue = try CommitQueue(log)  // shares writes and syncs between callers

var envelope = Envelope(header: .init(user: 1, operationKind: .modifyRecords))
if log.end == .start {
    // Names get their ordinals, and zones are made, before their first use.
    let names: [InternedName.Name] = [
        .user("anna"), .database(.private, owner: 1), .zone(database: 1, owner: 1, "Notes"), .recordType("Note"),
        .field("text"),
    ]
    envelope.events += names.map { InternedName(ordinal: 1, name: $0).event }
    envelope.events.append(try ZoneSavedEvent(zone: 1, database: 1).event())
}
let note = RecordKey(zone: 1, name: "note-\(log.end.offset + 1)")
var save = RecordSavedEvent(.create, note, type: 1)
save.fields = [FieldChange(1, .string("Buy milk"))]
envelope.events.append(try save.event())

let position = try queue.commit(envelope.encoded()[...])
print("commit \(position.offset) is on the medium")  // it would survive a loss of power from here on

var cursor = try log.read(from: 1)
while let commit = try cursor.next() {
    let events = try Envelope(decoding: commit.payload).events
    print(commit.offset, events.map(\.kind.description))
}

// The state that the log comes to, from the last checkpoint on.
let views = try Views.open(log, store: log.identity.storeID, in: "Notes.strata").views
let snapshot = views.pages.snapshot()
print(snapshot.entryCount(ViewTree.records), "notes")
try views.checkpoint(snapshot)
queue.close()
try log.close()
