// A tour of the log, to read and to copy from: save notes, read them back, and survive being killed.
//
//     swift run log-demo [DIR]
//
// It makes DIR/Notes.strata; without DIR, in a new temporary directory. It ends with 0 if everything is as promised.

import ExampleArguments
import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// Why the demo stopped, in words.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

// MARK: Payloads

// Names get numbers, their ordinals, before their first use; from then on events carry the numbers alone.
let anna: UInt64 = 1
let phone: UInt64 = 1
let privateDatabase: UInt64 = 1
let notesZone: UInt64 = 1
let noteType: UInt64 = 1
let textField: UInt32 = 1

let namesOfTheDemo = [
    InternedName(ordinal: anna, name: .user("anna")),
    InternedName(ordinal: phone, name: .device(user: anna, "phone")),
    InternedName(ordinal: privateDatabase, name: .database(.private, owner: anna)),
    InternedName(ordinal: notesZone, name: .zone(database: privateDatabase, owner: anna, "Notes")),
    InternedName(ordinal: noteType, name: .recordType("Note")),
    InternedName(ordinal: UInt64(textField), name: .field("text")),
]

/// Events that say what there is before any note: a zone, and a record type with its field.
func beginning() throws -> [Event] {
    [
        try ZoneSavedEvent(zone: notesZone, database: privateDatabase, capabilities: []).event(),
        try SchemaChangedEvent(type: noteType, fields: [SchemaField(textField, .string)]).event(),
    ]
}

/// An event that says: a record was saved.
func noteSaved(_ name: String, _ text: String) throws -> Event {
    let note = RecordKey(zone: notesZone, name: name)
    return try RecordSavedEvent(.create, note, type: noteType, fields: [FieldChange(textField, .string(text))]).event()
}

/// A commit's payload: who did it, by which operation, and the events that came of it.
func payload(_ events: [Event]) -> ArraySlice<UInt8> {
    Envelope(header: .init(user: anna, device: phone, operationKind: .modifyRecords), events: events).encoded()[...]
}

// MARK: Saving and reading

/// Appends payloads as commits that share one write and one sync. Returns once they would survive a loss of power.
func append(_ payloads: [ArraySlice<UInt8>], to log: SegmentedLog) throws -> [Position] {
    // A commit's time must not be before that of the previous commit.
    let time = max(log.platform.time.nowMicroseconds(), log.endTime ?? Int64.min)
    let commits = payloads.map { NewCommit(id: log.platform.random.nextIdentifier(), time: time, payload: $0) }
    // Only one process can have the log open for writing, and here only one thread appends to it.
    return try log.append(commits, expecting: log.end).positions
}

func saveNotes(at store: String) throws {
    print("saving notes in \(store)")
    let log = try SegmentedLog.open(at: store)
    let interned = try append([payload(namesOfTheDemo.map(\.event) + beginning())], to: log)
    print("  the names are in commit \(interned[0])")
    var positions: [Position] = []
    for batch in 1...4 {
        let notes = try (1...12).map { number in
            try payload([noteSaved("note-\(batch)-\(number)", "Note \(number) of batch \(batch)")])
        }
        positions += try append(notes, to: log)
    }
    print("  \(positions.count) notes in 4 batches; the log now ends at \(log.end), durable up to \(log.durableEnd)")
    try log.close()
}

func readNotes(at store: String) throws {
    // A reader takes no lock: it works beside a writer in another process, too.
    let reader = try LogReader.open(at: store)
    var names = NameTable()
    var cursor = try reader.read(from: 1)
    var lines: [String] = []
    while let commit = try cursor.next() {
        let envelope = try Envelope(decoding: commit.payload)
        for event in envelope.events {
            if event.kind == .nameInterned { try names.add(InternedName(decoding: event.body)) }
        }
        let user = try names.user(envelope.header.user) ?? "?"
        lines.append("commit \(commit.offset) by \(user): \(envelope.events.map(\.kind.description))")
    }
    print("read back \(lines.count) commits; the last two:")
    for line in lines.suffix(2) { print("  \(line)") }
}

// MARK: Being killed

/// What the child does: commits for ever, and prints each offset once it has been acknowledged.
func commitUntilKilled(at store: String) throws {
    let log = try SegmentedLog.open(at: store)
    var number = 0
    while true {
        number += 1
        let positions = try append([payload([try noteSaved("child-\(number)", "Saved before the kill")])], to: log)
        print(positions[0].offset)
        fflush(nil)
    }
}

/// Starts this program as a child whose output goes to `output`, and returns its process id.
func startChild(at store: String, output: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    let words = ["log-demo", "--commit-until-killed", store]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child: pid_t = 0
    let result = posix_spawn(&child, "/proc/self/exe", &actions, nil, &arguments, environ)
    guard result == 0 else { throw DemoFailure("cannot start a child: \(String(cString: strerror(result)))") }
    return child
}

func surviveKill(at store: String) throws {
    let output = store + ".acknowledged"
    let child = try startChild(at: store, output: output)
    usleep(300_000)
    kill(child, SIGKILL)
    var status: Int32 = 0
    waitpid(child, &status, 0)
    guard status & 0x7F == SIGKILL else { throw DemoFailure("the child ended by itself, with status \(status)") }
    let bytes = try RealFileSystem().readAll(output, atMost: 64 << 20)
    // The kill may have cut the last line; what counts is what was printed whole.
    let acknowledged = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        .dropLast().compactMap { UInt64($0) }
    guard !acknowledged.isEmpty else { throw DemoFailure("the child was killed before its first commit") }
    print("a child process was killed after \(acknowledged.count) acknowledged commits")

    // Opening judges what the kill left, and reports it.
    let log = try SegmentedLog.open(at: store)
    let report = log.recovery
    print("  reopened: \(report.replayedCommits) commits replayed, the log ends at \(log.end)")
    if let tail = report.tornTail {
        print("  \(tail.byteCount) unfinished bytes behind commit \(tail.lastOffset) removed: \(tail.reason)")
    } else {
        print("  nothing unfinished was left behind")
    }
    for offset in acknowledged {
        guard try log.commit(at: offset) != nil else {
            throw DemoFailure("commit \(offset) was acknowledged and is lost")
        }
    }
    print("  every acknowledged commit is there")
    try log.close()
}

// MARK: The tour

func makeTemporaryDirectory() throws -> String {
    var template = Array("/tmp/log-demo-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
        throw DemoFailure("cannot make a temporary directory: \(String(cString: strerror(errno)))")
    }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

let usage = """
    usage: log-demo [DIR]

    Makes DIR/Notes.strata, kills a process that writes to it, and opens it again. Without DIR it is in a new
    temporary directory.

    example: log-demo .
    """

func tour() throws {
    let words = Array(CommandLine.arguments.dropFirst())
    if words.count == 2, words[0] == "--commit-until-killed" { return try commitUntilKilled(at: words[1]) }
    let arguments = ExampleArguments.read(usage: usage, counts: 0...1)
    let directory = try arguments.first ?? makeTemporaryDirectory()
    try RealFileSystem().makeDirectory(directory)
    let store = directory + "/Notes.strata"
    guard try !RealFileSystem().exists(store) else {
        throw DemoFailure("\(store) is there already; name another directory")
    }
    try saveNotes(at: store)
    try readNotes(at: store)
    try surviveKill(at: store)
    print("look into it with: strata log \(store) -n 5")
}

do { try tour() } catch {
    "log-demo: \(error)\n".withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}
