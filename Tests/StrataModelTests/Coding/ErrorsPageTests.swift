import Foundation
import TestSupport
import Testing

@testable import StrataModel

/// docs/errors.md has a row for each code of an error.
@Suite struct ErrorsPageTests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        .joined(separator: "/")

    /// The codes that a source file declares as static constants.
    private static func codes(inSource path: String) throws -> Set<String> {
        let text = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
        return Set(text.matches(of: /static let (\w+) = Self\(rawValue: ["\d]/).map { String($0.1) })
    }

    /// The codes in the first cells of the table of a section.
    private static func codes(ofSection title: String, in page: String) throws -> Set<String> {
        let section = try #require(page.components(separatedBy: "\n## ").first { $0.hasPrefix(title) })
        let rows = section.split(separator: "\n").filter { $0.hasPrefix("| `") && !$0.contains("` code |") }
        let cells = rows.compactMap { $0.split(separator: "|").first }
        return Set(cells.flatMap { $0.matches(of: /`(\w+)`/) }.map { String($0.1) })
    }

    private static func page() throws -> String {
        try String(contentsOfFile: "\(root)/docs/errors.md", encoding: .utf8)
    }

    @Test("Each code of a store's error is on the page, and no other")
    func storeErrors() throws {
        let declared = try Self.codes(inSource: "Sources/StrataModel/Coding/StrataError.swift")
            .union(Self.codes(inSource: "Sources/StrataReplication/Sequencer.swift"))
        #expect(declared.count > 30)
        #expect(try Self.codes(ofSection: "Errors of stores", in: Self.page()) == declared)
    }

    @Test("Each code of a refusal is on the page")
    func refusals() throws {
        let declared = try Self.codes(inSource: "Sources/StrataModel/Requests/Refusal.swift")
        #expect(declared.count > 20)
        #expect(declared.subtracting(try Self.codes(ofSection: "Errors of requests", in: Self.page())) == [])
    }

    @Test("Each code with which the API fails is on the page")
    func errorsOfTheAPI() throws {
        let folder = "\(Self.root)/Sources/CloudKit"
        let sources = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
        let made = try sources.flatMap { source in
            try String(contentsOfFile: "\(folder)/\(source)", encoding: .utf8)
                .matches(of: /CKError\(\s*\.(\w+)/).map { String($0.1) }
        }
        #expect(made.contains("badContainer"))
        #expect(Set(made).subtracting(try Self.codes(ofSection: "Errors of requests", in: Self.page())) == [])
    }

    @Test("Canary: a code without a row is noticed")
    func canary() throws {
        let page = try Self.page().replacingOccurrences(of: "| `locked` |", with: "| `shut` |")
        let found = try Self.codes(ofSection: "Errors of stores", in: page)
        #expect(found.contains("shut") && !found.contains("locked"))
    }
}
