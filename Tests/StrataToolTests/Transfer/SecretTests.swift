import Foundation
import StrataModel
import StrataSystem
import StrataViews
import Testing

@testable import StrataStore
@testable import StrataTool

/// The secret of a store, which no command prints (docs/security.md §1).
@Suite("No command prints the secret")
struct SecretTests {
    private let fixture: StateFixture
    private let secret: StoreSecret

    init() throws {
        fixture = try StateFixture(keepsAudits: true)
        try fixture.share()
        let store = try Store.open(at: fixture.path, access: .readOnly)
        secret = try #require(try store.snapshot().trees.secret())
        try store.close()
    }

    /// True if a text has eight successive bytes of the secret, raw, in hexadecimal digits or in base64.
    private func tells(_ text: String) -> Bool {
        let digits = text.lowercased().filter { $0.isHexDigit }
        let bytes = Array(text.utf8)
        return (0...secret.key.count - 8).contains { start in
            let part = Array(secret.key[start..<start + 8])
            let isPlain = bytes.firstRange(of: part) != nil
            if isPlain || digits.contains(part.map { hexadecimal($0) }.joined()) { return true }
            // The secret can begin at any byte of a group of three; the first and last digits depend on its neighbors.
            return (0..<3).contains { shift in
                let whole = Data(repeating: 0, count: shift) + part
                return text.contains(whole.base64EncodedString().dropFirst(4).prefix(4 * ((shift + 8) / 3) - 4))
            }
        }
    }

    @Test("A text with the secret is found, in each of its spellings")
    func canary() {
        #expect(tells("a " + secret.key.map { hexadecimal($0) }.joined(separator: " ")))
        for shift in 0..<3 {
            #expect(tells(Data(Array(repeating: 7, count: shift) + secret.key).base64EncodedString()))
        }
        #expect(!tells("the secret 1"))
    }

    @Test(
        "Nothing that is printed has it",
        arguments: [
            ["export"], ["export", "--records"], ["log"], ["log", "--json"], ["log", "--patch", "--json"],
            ["show", "1"], ["show", "1", "--json"], ["report"], ["dump"], ["dump", "--bytes", "100000"],
            ["frames", "--json"], ["info", "--json"], ["stats", "--json"], ["verify", "--deep", "--json"],
            ["shares", "--json", "--ended"], ["verify", "--judge", "--json"], ["segments", "--json"],
        ])
    func printed(_ words: [String]) throws {
        let output = words[0] == "report" ? ["-"] : []
        let rest = words[0] == "show" ? Array(words[1...]) : output + words[1...]
        let result = try fixture.run([words[0], fixture.name] + rest)
        #expect(result.code == 0 && !result.output.isEmpty, "\(result.errors)")
        #expect(!tells(result.output) && !tells(result.errors))
    }

    @Test("The event has its number")
    func number() throws {
        #expect(try fixture.run(["show", fixture.name, "1"]).output.contains("secret drawn     secret 1  ("))
        #expect(try fixture.run(["export", fixture.name]).output.contains(#""secret":1"#))
    }

    @Test("An import draws a secret of its own, which keeps everything else")
    func imported() throws {
        try Data(fixture.run(["export", fixture.name]).output.utf8).write(
            to: URL(fileURLWithPath: fixture.directory.path("export")))
        let result = try fixture.run(["import", "New.strata", "export"])
        #expect(result.code == 0 && result.output.contains("draws a secret of its own"), "\(result.errors)")
        let new = try Store.open(at: fixture.directory.path("New.strata"))
        let old = try Store.open(at: fixture.path, access: .readOnly)
        let drawn = try #require(try new.snapshot().trees.secret())
        #expect(drawn.number == 1 && drawn.key != secret.key && drawn.key != Array(repeating: 0, count: 32))
        #expect(try new.offset == old.offset && new.snapshot().digests() == old.snapshot().digests())
        try new.close()
        try old.close()
    }
}
