import CloudKit
import TestSupport
import Testing

@Suite("The default container of a process, and its environment", .timeLimit(.minutes(2)))
struct DefaultContainerTests {
    /// The lines that `cloudkit-child save` prints with nothing but these in its environment.
    private func lines(_ environment: [String: String], saving name: String = "note") throws -> [String] {
        let words = environment.map { "\($0.key)=\($0.value)" }
        return try ChildProcess(
            "/usr/bin/env", ["-i"] + words + [ChildProcess.product("cloudkit-child"), "save", name]
        ).lines()
    }

    @Test("It is named after the program; directory, user and device come from the environment")
    func environment() async throws {
        let directory = try TestDirectory()
        let environment = ["STRATA_HOME": directory.path, "STRATA_USER": "anna", "STRATA_DEVICE": "phone"]
        let lines = try lines(environment)
        #expect(lines.first == "iCloud.cloudkit-child")
        #expect(lines.last == "<CKContainer iCloud.cloudkit-child: anna on phone>")
        let store = try CloudStore(
            at: URL(fileURLWithPath: directory.path("iCloud.cloudkit-child.strata")))
        let container = store.container(user: "anna")
        #expect(try await container.userRecordID().recordName == lines.dropFirst().first)
        let saved = try await container.privateCloudDatabase.record(for: CKRecord.ID(recordName: "note"))
        #expect(saved.recordType == "Note")
        try store.close()
        // The next process goes on with the same store, another user has a database of his own.
        #expect(try self.lines(environment, saving: "note").first?.contains("serverRecordChanged") == true)
        #expect(try self.lines(environment.merging(["STRATA_USER": "bert"]) { $1 }, saving: "note").count == 3)
    }

    @Test("Without them: the data directory, who is logged in, and a name of the machine that stays")
    func defaults() throws {
        let directory = try TestDirectory()
        let first = try lines(["XDG_DATA_HOME": directory.path], saving: "a")
        let second = try lines(["XDG_DATA_HOME": directory.path], saving: "b")
        #expect(first.count == 3 && first == second)
        #expect(first.last?.contains(": \(NSUserName()) on ") == true)
        let stores = try FileManager.default.contentsOfDirectory(atPath: directory.path("strata"))
        #expect(Set(stores) == ["device", "iCloud.cloudkit-child.strata"])
        let home = try TestDirectory()
        #expect(try lines(["HOME": home.path], saving: "a").count == 3)
        #expect(FileManager.default.fileExists(atPath: home.path(".local/share/strata/device")))
        #expect(try lines(["HOME": home.path, "XDG_DATA_HOME": "relative"], saving: "b").count == 3)
    }
}
