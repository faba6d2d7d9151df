import CloudKit
import Glibc

// What tests need a process of their own for; prints what came of it.
//   usage: cloudkit-child unarchive FILE        decodes the root object, before anything of CloudKit was used
//          cloudkit-child damage FILE           decodes the file with each byte flipped, and cut short everywhere
//          cloudkit-child save NAME             saves a record in the default container's private database
//          cloudkit-child archives DIRECTORY    writes an archive of each class, as Golden has them
//          cloudkit-child keep DIRECTORY        keeps long-lived operations of every kind, and never ends
//          cloudkit-child descriptors FILE      saves an asset of a file while no file can be opened
//          cloudkit-child threads COUNT         runs so many operations one after another, and counts its threads

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
}

func fail(_ reason: String) -> Never {
    say("cloudkit-child: \(reason)")
    exit(2)
}

func unarchive(_ path: String) throws {
    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(contentsOf: URL(fileURLWithPath: path)))
    unarchiver.requiresSecureCoding = false
    guard let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) else { fail("no object") }
    say("\(object)")
}

func save(_ name: String) async throws {
    let container = CKContainer.default()
    let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
    try await container.privateCloudDatabase.save(record)
    say(container.containerIdentifier ?? "none")
    say(try await container.userRecordID().recordName)
    say("\(container)")
}

/// Threads of this process.
func threadCount() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count }

/// Prints how many threads there were after the first operation, and at most after any.
func countThreads(_ text: String) async throws {
    guard let count = Int(text) else { fail("no number: \(text)") }
    let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
    let record = try await database.save(CKRecord(recordType: "Note"))
    var counts: [Int] = []
    for _ in 0..<count {
        let operation = CKFetchRecordsOperation(recordIDs: [record.recordID])
        await withCheckedContinuation { continuation in
            operation.fetchRecordsResultBlock = { _ in continuation.resume() }
            database.add(operation)
        }
        counts.append(try threadCount())
    }
    say("\(counts.first ?? 0) \(counts.max() ?? 0)")
}

/// Saves an asset of a file while the process cannot open one; prints the code of the error and its text.
func saveWithoutDescriptors(_ path: String) async throws {
    let database = try CloudStore.inMemory().container(user: "anna").privateCloudDatabase
    func save() async throws {
        let record = CKRecord(recordType: "Note")
        record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: path))
        try await database.save(record)
    }
    try await save()
    var limit = rlimit(rlim_cur: 64, rlim_max: 64)
    guard setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { fail("no limit") }
    while open("/dev/null", O_RDONLY) >= 0 {}
    do { try await save() } catch let error as CKError { say("\(error.code) \(error.debugDescription)") }
}

guard CommandLine.arguments.count == 3 else {
    fail("usage: cloudkit-child unarchive|damage|save|archives|keep|threads|descriptors NAME")
}
let argument = CommandLine.arguments[2]
do {
    switch CommandLine.arguments[1] {
    case "unarchive": try unarchive(argument)
    case "damage": try damage(argument)
    case "save": try await save(argument)
    case "archives": try await writeArchives(argument)
    case "keep": try await keepOperations(argument)
    case "descriptors": try await saveWithoutDescriptors(argument)
    case "threads": try await countThreads(argument)
    default: fail("no such word: \(CommandLine.arguments[1])")
    }
} catch {
    fail("\(error)")
}
