import CloudKit
import Foundation
import StrataLog
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

@Suite("No file of a store has an encrypted value in the clear", .timeLimit(.minutes(1)))
struct PlainBytesTests {
    private static let secret = "verborgen-7f3a"
    private static let canary = "sichtbar-91c2"

    private func files(_ path: String) throws -> [(name: String, bytes: Data)] {
        let names = try #require(FileManager.default.enumerator(atPath: path)).compactMap { $0 as? String }
        return try names.compactMap { name in
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
            return isDirectory.boolValue ? nil : (name, try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
        }
    }

    /// Files whose bytes have the text, in UTF-8 or as little-endian UTF-16.
    private func files(_ path: String, with text: String) throws -> Set<String> {
        let forms = [Data(text.utf8), try #require(text.data(using: .utf16LittleEndian))]
        return Set(try files(path).filter { file in forms.contains { file.bytes.range(of: $0) != nil } }.map(\.name))
    }

    /// How many commits have the text, whatever compression made of them on disk.
    private func commits(_ path: String, with text: String) throws -> Int {
        let reader = try LogReader.open(at: path)
        var cursor = try reader.read(from: 1)
        var count = 0
        while let commit = try cursor.next() {
            if Data(commit.payload).range(of: Data(text.utf8)) != nil { count += 1 }
        }
        return count
    }

    /// Has the store keep an operation as if it had begun.
    private func keep(_ operation: CKModifyRecordsOperation) throws {
        let keeper = try #require(operation.makeKeeper())
        try keeper()
    }

    @Test("Log, views and long-lived operations; a plain value beside it is found by the same search")
    func search() async throws {
        let notes = try await NotesDirectory()
        func secrets(_ name: String, count: Int) -> CKRecord {
            let note = notes.note(name)
            // Long and repetitive, so that frames are compressed.
            note["title"] = String(repeating: Self.canary + " ", count: count)
            note.encryptedValues["secret"] = String(repeating: Self.secret + " ", count: count)
            note.encryptedValues["bytes"] = Data(Self.secret.utf8)
            note.encryptedValues["list"] = [Self.secret, Self.secret]
            return note
        }
        let first = try await notes.database.save(secrets("a", count: 1))
        let stale = try await notes.database.record(for: first.recordID)
        first.encryptedValues["secret"] = Self.secret + "!"
        try await notes.database.save(first)
        // Refused, in whatever form the log keeps it.
        stale.encryptedValues["secret"] = Self.secret + "?"
        #expect(await code { try await notes.database.save(stale) } == .serverRecordChanged)
        _ = try await notes.database.modifyRecords(
            saving: (0..<40).map { secrets("n\($0)", count: 1 + $0 * 20) }, deleting: [])
        for isFetched in [false, true] {
            let record = isFetched ? try await notes.database.record(for: first.recordID) : secrets("kept", count: 1)
            let operation = CKModifyRecordsOperation(recordsToSave: [record])
            operation.configuration.isLongLived = true
            operation.database = notes.database
            try keep(operation)
        }
        let plain = CKModifyRecordsOperation(recordsToSave: [notes.note(Self.canary)])
        plain.configuration.isLongLived = true
        plain.database = notes.database
        try keep(plain)

        for round in 0..<2 {
            let leaking = try files(notes.path, with: Self.secret)
            #expect(leaking == [], "round \(round)")
            #expect(try commits(notes.path, with: Self.secret) == 0)
            let found = try files(notes.path, with: Self.canary)
            #expect(found.contains { $0.hasPrefix("log/") } && found.contains("operations/\(plain.operationID)"))
            #expect(found.contains { $0.hasPrefix("views/") } || round == 0, "\(found)")
            #expect(try commits(notes.path, with: Self.canary) >= 2)
            if round == 0 { try notes.reopen() }
        }
        let again = try await notes.database.records(for: (0..<40).map { notes.id("n\($0)") })
        for result in again.values {
            #expect((try result.get().encryptedValues["secret"] as? String)?.hasPrefix(Self.secret) == true)
        }
        try notes.store.close()
    }

    @Test("What is kept of an operation and whether it is secret are told from one state of its records (B201)")
    func archivedState() throws {
        let record = CKRecord(recordType: "Note")
        record.encryptedValues["secret"] = Self.secret
        let archive = try #require(CKModifyRecordsOperation(recordsToSave: [record]).archive).properties
        record.encryptedValues["secret"] = nil
        #expect(archive.holdsEncryptedValues)
        #expect(archive.records?.first?.encryptedValues["secret"] as? String == Self.secret)
        #expect(archive.records?.first?.recordID == record.recordID)
    }

    @Test("A long-lived operation with encrypted values is done after a restart; after a reset it is forgotten")
    func longLived() async throws {
        let notes = try await NotesDirectory()
        func keepSave(of name: String) throws -> CKOperation.ID {
            let operation = CKModifyRecordsOperation(recordsToSave: [notes.note(name, secret: Self.secret)])
            operation.configuration.isLongLived = true
            operation.database = notes.database
            try keep(operation)
            return operation.operationID
        }
        let first = try keepSave(of: "a")
        try notes.reopen()
        let again = try #require(try await notes.phone.longLivedOperation(for: first) as? CKModifyRecordsOperation)
        #expect(again.recordsToSave?.first?.encryptedValues["secret"] as? String == Self.secret)
        await again.finish { notes.phone.add($0) }
        let saved = try await notes.database.record(for: notes.id("a"))
        #expect(saved.encryptedValues["secret"] as? String == Self.secret)
        let second = try keepSave(of: "b")
        try notes.store.store.resetEncryptedData(of: "anna")
        #expect(try await notes.phone.allLongLivedOperationIDs() == [second])
        #expect(try await notes.phone.longLivedOperation(for: second) == nil)
        #expect(try await notes.phone.allLongLivedOperationIDs().isEmpty)
        let third = try keepSave(of: "c")
        try notes.loseKeys()
        #expect(await code { try await notes.phone.longLivedOperation(for: third) } == .internalError)
        try notes.store.close()
    }
}
