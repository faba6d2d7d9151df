/// For each rule, made-up files of which it must complain, and files that look alike of which it must not.
struct RuleSample: Sendable, CustomStringConvertible {
    let rule: String
    let path: String
    let text: String
    let isBad: Bool

    var description: String { "\(rule): \(isBad ? "bad" : "good") \(path): \(text.prefix(60).debugDescription)" }

    var file: SourceFile { SourceFile(path: path, text: text) }
}

enum RuleSamples {
    static let library = "Sources/StrataLog/Sample.swift"
    private static let rules = "Sources/StrataRules/Sample.swift"

    static let all: [RuleSample] = lengths + labels + texts + safety + imports + names

    private static func bad(_ rule: String, _ text: String, path: String = library) -> RuleSample {
        RuleSample(rule: rule, path: path, text: text, isBad: true)
    }

    private static func good(_ rule: String, _ text: String, path: String = library) -> RuleSample {
        RuleSample(rule: rule, path: path, text: text, isBad: false)
    }

    private static func lines(_ count: Int) -> String { String(repeating: "    work()\n", count: count) }

    private static let lengths = [
        bad("file length", String(repeating: "\n", count: 1_001)),
        good("file length", String(repeating: "\n", count: 1_000)),
        good("file length", String(repeating: "\n", count: 1_001), path: "docs/long.md"),
        bad("line length", String(repeating: "é", count: 121)),
        good("line length", String(repeating: "é", count: 120)),
        bad("function length", "func long(_ body: () -> Void = {}) -> Int {\n\(lines(69))}\n"),
        good("function length", "func long(_ body: () -> Void = {}) -> Int {\n\(lines(68))}\n"),
        bad("function length", "init() {\n  let brace = \"}\"  // }\n\(lines(69))}\n"),
        bad("function length", "var long: Int {\n    get throws {\n\(lines(69))    }\n}\n"),
        bad("function length", "static func == (a: A, b: A) -> Bool {\n  \"\\(a.map { $0 })}\"\n\(lines(69))}\n"),
        bad("function length", "deinit {\n/* } /* } */ } */\n#\"\"\"\n}\"\\(\n\"\"\"#\n\(lines(66))}\n"),
        good("function length", "protocol P {\n  func a()\n  var x: Int { get }\n}\nstruct S {\n\(lines(80))}\n"),
        good("function length", "func a() {\n\(lines(40))}\nfunc b() {\n\(lines(40))}\n"),
        good("function length", "let table = [\n\(lines(80))]\n"),
    ]

    private static let labels = [
        bad("labels", "func a(_ b: Int, _ c: Int, _ d: Int, _ e: Int) {}\n", path: rules),
        bad(
            "labels", "struct A {\n    init<B>(_ b: B, _ c: [B: (B, B)], d: Int, _ e: Int, _ f: Int = 1) {}\n}\n",
            path: rules),
        bad("labels", "func a(_ b: () -> Int, _ c: Int, _ d: Int, _ e: Int) {}\n", path: rules),
        good("labels", "func a(_ b: Int, _ c: Int, _ d: Int, e: Int) {}\n", path: rules),
        good(
            "labels", "func a(_ b: Int, _ c: (Int) -> Int, _ d: Int, _ e: (Int, Int) throws -> Int) {}\n", path: rules),
        good("labels", "func a(_ b: Int, _ c: Int, _ d: Int, _ e: Int) {}\n", path: "Tests/Support/Sample.swift"),
        good(
            "labels", "let a = B.init(_: 1)\nfunc c(_ d: (_ e: Int, _ f: Int, _ g: Int, _ h: Int) -> Int) {}\n",
            path: rules),
    ]

    private static let texts = [
        bad("blanks", "let a = 1 \n"),
        bad("blanks", "\tlet a = 1\n"),
        bad("blanks", "echo \t\n", path: "tools/sample"),
        good("blanks", "    let a = \"\\t\"\n"),
        good("blanks", "a\tb \n", path: "Tests/Golden/table.tsv"),
        bad("leftovers", "// \(LeftoversRule.words[0]): later\n"),
        bad("leftovers", "x \(LeftoversRule.words[1])\n", path: "docs/page.md"),
        bad("leftovers", "# \(LeftoversRule.words[2])\n", path: "tools/sample"),
        bad("leftovers", "/* \(LeftoversRule.words[3]) */\n"),
        good("leftovers", "mktemp a.\(LeftoversRule.words[2])\(LeftoversRule.words[2])\n", path: "tools/sample"),
        bad("foreign words", "see \(ForeignWordsRule.words[0])main\n", path: "README.md"),
        bad("foreign words", "let a = \"\(ForeignWordsRule.words[2])a\"\n"),
        bad("foreign words", "a \(ForeignWordsRule.words[5])\n", path: ".ci/run"),
        good("foreign words", "see docs/format.md, the network, /usr/bin\n", path: "README.md"),
        bad("plain words", "/// What it is.\n", path: "Sources/Sample/Sample.swift"),
        bad("plain words", "    // The part in front of it.\n", path: "Sources/Sample/Sample.swift"),
        good("plain words", "/// Whatever it says.\n// What a day\nlet a = \"so many\"\n", path: "Sources/A/A.swift"),
        good("plain words", "/// What it is.\n", path: "Tests/Support/Sample.swift"),
        bad("page paths", "see [a page](other.md)\n", path: "docs/page.md"),
        bad("page paths", "a file, `Sources/Gone.swift`\n", path: "docs/page.md"),
        bad("page paths", "see [a page](../other.md#part)\n", path: "docs/guide/page.md"),
        good("page paths", "[itself](../docs/page.md#a), [a site](https://a.b/c), [here](#a)\n", path: "docs/page.md"),
        good("page paths", "`docs/`, `docs/*.md`, `docs/<name>`, `let docs/page`\n", path: "docs/page.md"),
        good("page paths", "gone: `Sources/Gone.swift`\n", path: "CHANGELOG.md"),
        bad("rule citations", "# Strata\n", path: "README.md"),
        bad("rule citations", "B2 is cited\n| B1 | a |\n", path: "docs/behavior.md"),
        bad("rule citations", "| B1 | a |\n| B1 | b |\n", path: "docs/behavior.md"),
        bad("rule citations", "| B2 | a |\n| B1 | b |\n", path: "docs/behavior.md"),
        bad("rule citations", "| B1 | a choice |\n", path: "docs/differences.md"),
        good("rule citations", "| a | choice |\n", path: "docs/differences.md"),
        bad("rule citations", "throw Refusal(.badDatabase, \"Not here (B31).\")\n"),
        good("rule citations", "| B1 | a |\n| B2 | as B1; B1x, xB3, B1234, B |\n", path: "docs/behavior.md"),
        bad("rule citations", "let a = \"\"\"\n    Not here (B31).\n    \"\"\"\n"),
        good("rule citations", "/// Fails elsewhere (B31).\nlet a = \"b\"\n"),
    ]

    private static let safety =
        BannedCallsRule.calls.map { bad("banned calls", "    let a = \($0.call) b)\n") } + [
            bad("banned calls", "Swift.print(1)\n"),
            bad("banned calls", "let a = \"\\(try! b())\"\n"),
            good("banned calls", "print(1)\nfatalError()\n", path: "Sources/strata/main.swift"),
            good("banned calls", "print(1)\n", path: "Tests/Support/Sample.swift"),
            good("banned calls", "// print(1)\nlet a = \"print(1)\"\n"),
            good("banned calls", "out.print(1)\nfunc print(_ a: Int) {}\nreprint(1)\nlet canvas = has\n"),
            good("banned calls", "preconditionFailure(\"broken\")\nprecondition(a)\n"),
            bad("force unwrap", "let a = b!\n"),
            bad("force unwrap", "let a = b()!.c\n"),
            bad("force unwrap", "/// What it is.\nlet a = b[0]!\n"),
            bad("force unwrap", "// A reason, but too far away.\n\nlet a = b!\n"),
            good("force unwrap", "// Not empty: checked above.\nlet a = b!\nlet c = d!  // the same\n"),
            good("force unwrap", "if a != b, !c, !d.e { f(!g) }\n#if !os(Linux)\n#endif\nlet a = b!=c\n"),
            good("force unwrap", "let a = \"wow!\"  // wow!\n"),
            good("force unwrap", "let a = b!\n", path: "Tests/StrataLogTests/Sample.swift"),
            bad("unchecked", "final class A: @unchecked Sendable {}\n"),
            bad("unchecked", "/// A thing.\nfinal class A: @unchecked Sendable {}\n"),
            bad("unchecked", "nonisolated(unsafe) var a = 1\n", path: "Tests/Support/Sample.swift"),
            good("unchecked", "/// A thing.\n// @unchecked: immutable.\nfinal class A: @unchecked Sendable {}\n"),
            good("unchecked", "let a = \"@unchecked Sendable\"\n"),
        ]

    private static let names = [
        bad("file name", "struct Other {\n    struct Sample {}\n}\n"),
        bad("file name", "extension Other { static let sample = 1 }\n", path: "Sources/StrataLog/Sample+Topic.swift"),
        bad("file name", "func sample() -> Sample { Sample() }\nprivate enum Samples {}\n"),
        good("file name", "struct Other {}\n\npublic struct Sample {}\n"),
        good("file name", "extension Other.Sample { func go() {} }\n", path: "Sources/CloudKit/Sample+Topic.swift"),
        good("file name", "extension Int: @retroactive Sample {}\n", path: "Sources/CloudKit/Sample+Values.swift"),
        good("file name", "public let first = 1\npublic let second = 2\n"),
        good("file name", "enum Program {}\n", path: "Sources/strata/main.swift"),
        good("file name", "struct Other {}\n", path: "Tests/Support/Sample.swift"),
    ]

    private static let imports = [
        bad("imports", "import Foundation\n"),
        bad("imports", "import Glibc\n"),
        bad("imports", "@preconcurrency import struct Foundation.URL\n"),
        bad("imports", "public import Glibc\n", path: "Sources/CloudKit/Sample.swift"),
        bad("imports", "import Dispatch\n"),
        bad("imports", "import Foundation\n", path: "Sources/StrataQuery/Sample.swift"),
        bad("imports", "import Glibc\n", path: "Sources/StrataModel/Values/TextFolding.swift"),
        good("imports", "import Foundation\n", path: "Sources/StrataModel/Values/TextFolding.swift"),
        good("imports", "import StrataModel\nimport StrataSystem\nimport Synchronization\n// import Foundation\n"),
        good("imports", "import Glibc\nimport CStrataLZ4\n", path: "Sources/StrataSystem/Sample.swift"),
        good("imports", "import Foundation\nimport CoreLocation\n", path: "Sources/CloudKit/Sample.swift"),
        good("imports", "import Foundation\n", path: "Tests/StrataLogTests/Sample.swift"),
    ]
}
