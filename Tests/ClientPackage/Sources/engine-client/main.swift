import StrataModel
import StrataStore

let store = try Store.open(at: "Notes.strata")  // creates the store if it does not exist
let anna = Actor(user: "anna", device: "phone")
let notes = ZoneID("Notes")
try store.modify(.zones(saving: [notes]), as: anna)  // saving it again changes nothing

// An accepted request becomes one commit, which is durable when the call returns.
var first = RequestBuilder(DatabaseID(.private), policy: .changedKeys)
first.save(RecordID("list", zone: notes), type: "Note", fields: ["text": .string("Groceries")])
first.save(RecordID("milk", zone: notes), type: "Note", parent: .set("list"), fields: ["text": .string("Buy milk")])
let saved = try store.modify(first.request, as: anna)
let seen = try saved.result.saves[1].get()
print("commit \(saved.offset ?? 0), change tag \(seen.tag)")

// Another device saves with an outdated change tag.
var late = RequestBuilder(DatabaseID(.private))
late.save(RecordID("milk", zone: notes), type: "Note", fields: ["text": .string("Buy oat milk")])
let tablet = Actor(user: "anna", device: "tablet")
let answer = try store.modify(late.request, as: tablet)
if case .failure(let refusal) = answer.result.saves[0] { print(refusal) }

// A snapshot is one unchanging state of the whole store.
let snapshot = store.snapshot()
let milk = try snapshot.record(RecordID("milk", zone: notes), in: DatabaseID(.private), as: anna)
print(try milk.type, try milk["text"] ?? .string(""), try milk.parent ?? "no parent", "at", snapshot.offset)
try store.close()
