import CloudKit
import StrataSystem

/// What blocks reported, in their order.
final class Journal: Sendable {
    private let state = Lock<[String]>([])

    var entries: [String] { state.withLock { $0 } }

    func add(_ entry: String) { state.withLock { $0.append(entry) } }

    func add(_ name: String, _ result: Result<some Any, Error>) {
        switch result {
        case .success: add("\(name) success")
        case .failure(let error): add("\(name) \(Self.name(of: error))")
        }
    }

    func add(_ name: String, _ error: Error?) { add("\(name) \(error.map { Self.name(of: $0) } ?? "success")") }

    static func name(of error: Error) -> String {
        (error as? CKError).map { "\($0.code)" } ?? "another error: \(error)"
    }
}

/// The code of the error that a piece of work throws; nil if it throws none.
func code(of work: () async throws -> some Any) async -> CKError.Code? {
    do {
        _ = try await work()
        return nil
    } catch {
        return (error as? CKError)?.code
    }
}

extension Result where Failure == Error {
    /// The code of its error; nil for a success.
    var code: CKError.Code? {
        guard case .failure(let error) = self else { return nil }
        return (error as? CKError)?.code
    }
}

extension CKDatabaseOperation {
    /// Runs `start`, and returns once the operation has finished.
    func finish(_ start: (CKDatabaseOperation) -> Void) async {
        await withCheckedContinuation { continuation in
            let before = completionBlock
            completionBlock = {
                before?()
                continuation.resume()
            }
            start(self)
        }
    }
}

/// A store in memory with a zone `Notes` of the user `anna`.
struct NotesStore {
    let store: CloudStore
    let phone: CKContainer
    let zone = CKRecordZone.ID(zoneName: "Notes")

    var database: CKDatabase { phone.privateCloudDatabase }

    init(_ options: CloudStore.Options = .service) async throws {
        store = try CloudStore.inMemory(options: options)
        phone = store.container(user: "anna", device: "phone")
        try await phone.privateCloudDatabase.save(CKRecordZone(zoneID: zone))
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone) }

    func note(_ name: String, _ text: String = "text") -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: id(name))
        note["text"] = text
        return note
    }

    /// A note that has been saved by another device since it was fetched.
    func staleNote(_ name: String) async throws -> CKRecord {
        let saved = try await database.save(note(name, "first"))
        let tablet = store.container(user: "anna", device: "tablet").privateCloudDatabase
        let newer = try await tablet.record(for: id(name))
        newer["text"] = "second"
        try await tablet.save(newer)
        saved["text"] = "mine"
        return saved
    }
}
