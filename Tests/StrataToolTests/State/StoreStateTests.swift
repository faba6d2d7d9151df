import Foundation
import Glibc
import StrataModel
import StrataSystem
import TestNeeds
import Testing

@testable import StrataTool

/// How each command ends on each state that a store can be in.
@Suite struct StoreStateTests {
    /// A store in some state, and the exit codes that the commands must end with.
    struct State: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let info: Int32
        let log: Int32
        let verify: Int32
        /// What the problem is called, in the errors and in what `verify` prints.
        var words = ""
        let make: @Sendable () throws -> StoreFixture
    }

    static let states: [State] = [
        State(testDescription: "fine", info: 0, log: 0, verify: 0) { try .small() },
        State(testDescription: "several segments", info: 0, log: 0, verify: 0) { try .segmented() },
        State(testDescription: "empty", info: 0, log: 0, verify: 0) {
            let fixture = try StoreFixture()
            try fixture.close()
            return fixture
        },
        State(testDescription: "unfinished tail", info: 0, log: 0, verify: 0) {
            let fixture = try StoreFixture.small()
            try fixture.addUnfinishedTail()
            return fixture
        },
        State(testDescription: "missing", info: 3, log: 3, verify: 3, words: "does not exist") {
            let fixture = try StoreFixture.small()
            try RealFileSystem().rename(fixture.path, to: fixture.directory.path("Elsewhere"))
            return fixture
        },
        State(testDescription: "not a store", info: 3, log: 3, verify: 3, words: "not a Strata store") {
            let fixture = try StoreFixture.small()
            try RealFileSystem().remove(fixture.path + "/STORE")
            return fixture
        },
        State(testDescription: "newer format", info: 3, log: 3, verify: 3, words: "newerFormat") {
            let fixture = try StoreFixture.small()
            try fixture.makeNewer(fixture.path + "/STORE")
            return fixture
        },
        State(testDescription: "damaged identity", info: 3, log: 3, verify: 1, words: "badChecksum") {
            let fixture = try StoreFixture.small()
            try fixture.change(fixture.path + "/STORE", at: 20) { ~$0 }
            return fixture
        },
        State(testDescription: "damage in the newest segment", info: 3, log: 3, verify: 1, words: "badChecksum") {
            let fixture = try StoreFixture.small()
            try fixture.flipByte(inSegment: 0)
            return fixture
        },
        // `info` does not read what segments in the middle hold.
        State(testDescription: "damage in a closed segment", info: 0, log: 3, verify: 1, words: "badChecksum") {
            let fixture = try StoreFixture.segmented()
            try fixture.flipByte(inSegment: 1)
            return fixture
        },
        State(testDescription: "foreign segment", info: 3, log: 3, verify: 1, words: "foreignSegment") {
            let fixture = try StoreFixture.segmented()
            let other = try StoreFixture(segmentBytes: 64 << 10, seed: 2)
            try other.internNames()
            try other.saveNotes(300, noise: 700)
            try other.close()
            let segment = try fixture.segments()[1]
            try RealFileSystem().remove(segment)
            try RealFileSystem().rename(try other.segments()[1], to: segment)
            return fixture
        },
        State(testDescription: "missing segment", info: 3, log: 3, verify: 1, words: "missingSegment") {
            let fixture = try StoreFixture.segmented()
            try RealFileSystem().remove(try fixture.segments()[1])
            return fixture
        },
        State(testDescription: "no segments", info: 3, log: 3, verify: 1, words: "missingSegment") {
            let fixture = try StoreFixture.small()
            try RealFileSystem().remove(try fixture.segments()[0])
            return fixture
        },
        State(testDescription: "ends before its floor", info: 3, log: 3, verify: 1, words: "missingSegment") {
            let fixture = try StoreFixture.segmented()
            let files = RealFileSystem()
            let first = try fixture.segments()[0]
            let bytes = try files.readAll(first, atMost: 1 << 20)
            try fixture.open(segmentBytes: 64 << 10)
            _ = try fixture.trim(to: 200)
            try fixture.close()
            for segment in try fixture.segments() { try files.remove(segment) }
            try files.open(first, .create).write(bytes, at: 0)
            return fixture
        },
        State(testDescription: "segment of a newer format", info: 3, log: 3, verify: 3, words: "newerFormat") {
            let fixture = try StoreFixture.segmented()
            try fixture.makeNewer(try fixture.segments()[1])
            return fixture
        },
    ]

    @Test(arguments: states) func exitCodes(_ state: State) throws {
        let fixture = try state.make()
        for (command, code) in [("info", state.info), ("log", state.log), ("verify", state.verify)] {
            for form in [[], ["--json"]] {
                let result = try ToolProcess.run([command, fixture.name] + form, in: fixture.directory.path)
                #expect(result.code == code, "\(command) \(form): \(result.errors)")
                #expect(result.errors.isEmpty == (code != 3), "\(command) \(form): \(result.errors)")
                if code == 0 { continue }
                #expect((result.errors + result.output).contains(state.words), "\(command): \(result)")
                if code == 3 { #expect(result.reports(by: command)) }
            }
        }
    }

    @Test(.needs(.ordinaryUser))
    func unreadable() throws {
        let fixture = try StoreFixture.small()
        chmod(fixture.path + "/STORE", 0)
        for command in ["info", "log", "verify"] {
            let result = try fixture.run(command, fixture.name)
            #expect(result.code == 3 && result.errors.contains("permissionDenied"), "\(result)")
        }
    }

    /// Most of what the operating system may refuse says nothing about the medium.
    @Test func onlyAFailingMediumIsCalledOne() throws {
        let refused = StrataError.systemCall("open", path: "p", errno: ELOOP)
        let failed = StrataError.systemCall("pread", path: "p", errno: EIO)
        #expect(refused.code == .inputOutput && Advice.advice(for: refused) == nil)
        #expect(failed.code == .inputOutput && Advice.advice(for: failed)?.contains("medium") == true)
        let name = String(repeating: "n", count: 300)
        let result = try ToolProcess.run("info", name, in: "/tmp")
        #expect(result.code == 3 && result.errors.contains("File name too long"))
        #expect(!result.errors.contains("medium"), "\(result.errors)")
    }

    @Test func adviceIsAboutTheFileThatIsMissing() throws {
        let fixture = try StoreFixture.small()
        let schema = try fixture.run("schema", "validate", fixture.name, "Missing.ckdb")
        #expect(schema.code == 3 && schema.errors.hasSuffix("\n  Check the path of the file.\n"), "\(schema)")
        let other = try fixture.run("diff", fixture.name, "Missing.strata")
        #expect(other.code == 3 && other.errors.contains("it must be a store's directory"), "\(other)")
        let denied = StrataError(.permissionDenied, "Denied.", .init(path: "a/b"))
        #expect(Advice.advice(for: denied, stores: ["a"]) != nil && Advice.advice(for: denied, stores: ["c"]) == nil)
        try FileManager.default.removeItem(atPath: fixture.path + "/log")
        let gone = try fixture.run("log", fixture.name)
        #expect(gone.code == 3 && gone.errors.contains("(missingSegment)"), "\(gone)")
        #expect(gone.errors.contains("Copy the store before"), "\(gone)")
    }

    @Test func aPathWithTheEndOfALineStaysOnItsLine() throws {
        let result = try ToolProcess.run("info", "a\nstrata info: b", in: "/tmp")
        #expect(result.code == 3)
        #expect(
            result.errors == """
                strata info: The file or directory does not exist. [in a\\u{a}strata info: b] (notFound)
                  Check the path: it must be a store's directory, such as Notes.strata.

                """)
    }

    @Test func canaryAnotherStateIsNoticed() throws {
        let fixture = try StoreFixture.small()
        try fixture.flipByte(inSegment: 0)
        let fine = try #require(Self.states.first { $0.testDescription == "fine" })
        #expect(try fixture.run("verify", fixture.name).code != fine.verify)
    }
}
