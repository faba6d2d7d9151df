import Testing

/// A style test that finds nothing proves something only if it would find what it is for.
@Suite("Canary: the style rules find what they are for")
struct StyleCanaryTests {
    private func rule(_ name: String) throws -> any StyleRule {
        try #require(StyleRules.all.first { $0.name == name }, "no rule is called \(name)").rule
    }

    @Test("Each sample is judged as it should be", arguments: RuleSamples.all)
    func sample(sample: RuleSample) throws {
        let findings = try rule(sample.rule).findings(in: [sample.file])
        #expect(findings.isEmpty != sample.isBad, "\(findings.map(\.description))")
        #expect(findings.allSatisfy { $0.path == sample.path && $0.line > 0 })
    }

    @Test("Each rule has a bad sample and a good one", arguments: StyleRules.all.map(\.name))
    func samples(rule: String) {
        // These look at several files, and have tests of their own below.
        let together = [
            "unused files", "folder size", "module lines", "dependencies", "public surface", "circles", "page budgets",
        ]
        guard !together.contains(rule) else { return }
        #expect(RuleSamples.all.contains { $0.rule == rule && $0.isBad })
        #expect(RuleSamples.all.contains { $0.rule == rule && !$0.isBad })
    }

    @Test("A finding names the line")
    func line() throws {
        let text = "/* a\n \"b */\nlet c = \"\"\"\n  d\\(\"e\")\n  \"\"\"; print(1)\n"
        let file = SourceFile(path: RuleSamples.library, text: text)
        #expect(try rule("banned calls").findings(in: [file]).map(\.line) == [5])
    }

    @Test("A folder may hold so many files, and no more")
    func folderSize() throws {
        let rule = try rule("folder size")
        func folder(_ count: Int) -> [SourceFile] {
            (0..<count).map { SourceFile(path: "Sources/StrataLog/Read/F\($0).swift", text: "") }
        }
        let other = SourceFile(path: "Sources/StrataLog/Other.swift", text: "")
        #expect(rule.findings(in: folder(FolderSizeRule.maximumFiles) + [other]).isEmpty)
        #expect(rule.findings(in: folder(FolderSizeRule.maximumFiles + 1)).map(\.path) == ["Sources/StrataLog/Read"])
    }

    @Test("A module may have so many lines, and no more, and a limit follows it down")
    func moduleLines() throws {
        let rule = try rule("module lines")
        func findings(_ list: String?, lines: Int = 200) -> [String] {
            let files = [
                SourceFile(path: "Sources/StrataLog/A.swift", text: String(repeating: "\n", count: lines - 1)),
                SourceFile(path: "Sources/StrataLog/Read/B.swift", text: "\n"),
                SourceFile(path: "Sources/StrataLog/page.css", text: "\n"),
                SourceFile(path: "Tests/StrataLogTests/C.swift", text: "\n"),
            ]
            let list = list.map { SourceFile(path: ModuleLinesRule.list, text: $0) }
            return rule.findings(in: files + [list].compactMap(\.self)).map { "\($0.path):\($0.line)" }
        }
        #expect(findings("200 StrataLog\n") == [])
        #expect(findings("199 StrataLog\n") == ["\(ModuleLinesRule.list):1"])
        #expect(findings("\(200 + ModuleLinesRule.slack) StrataLog\n") == [])
        #expect(findings("\(201 + ModuleLinesRule.slack) StrataLog\n") == ["\(ModuleLinesRule.list):1"])
        #expect(findings("") == ["\(ModuleLinesRule.list):1"])
        #expect(findings("200 StrataLog\n5 StrataTree\n") == ["\(ModuleLinesRule.list):2"])
        #expect(findings("many StrataLog\n").count == 2)
        #expect(findings(nil) == ["Sources/StrataLog:1"])
    }

    @Test("A page may have so many words and semicolons, and no more")
    func pageBudgets() throws {
        let rule = try rule("page budgets")
        func findings(_ text: String, _ path: String = "docs/a.md", budget: String? = "5 docs/a.md\n") -> Int {
            let list = budget.map { SourceFile(path: PageBudgetRule.list, text: $0) }
            return rule.findings(in: [SourceFile(path: path, text: text)] + [list].compactMap(\.self)).count
        }
        let words = { String(repeating: "word ", count: $0) }
        #expect(findings(words(5)) == 0)
        #expect(findings(words(6)) == 1)
        #expect(findings(words(5), budget: "") == 1)
        #expect(findings(words(5), budget: nil) == 1)
        #expect(findings(words(5), budget: "5 docs/a.md\n5 docs/b.md\n") == 1)
        #expect(findings(words(5), "docs/rules.md", budget: "") == 0)
        #expect(findings(words(5), "Tests/a.md", budget: "") == 0)
        #expect(findings(words(500) + "; ", budget: "501 docs/a.md\n") == 0)
        #expect(findings(words(498) + "; ", budget: "501 docs/a.md\n") == 1)
        #expect(findings(words(5) + "`;` &lt; <!-- ; -->\n```\n;\n```\n", budget: "20 docs/a.md\n") == 0)
        let most = PageBudgetRule.maximumWords
        #expect(findings(words(most), budget: "\(most) docs/a.md\n") == 0)
        #expect(findings(words(most + 1), budget: "\(most + 1) docs/a.md\n") == 1)
        let lines = { String(repeating: "\n", count: $0) }
        #expect(findings(lines(PageBudgetRule.maximumLinesOfReadme), "README.md", budget: "5 README.md\n") == 0)
        #expect(findings(lines(PageBudgetRule.maximumLinesOfReadme + 1), "README.md", budget: "5 README.md\n") == 1)
    }

    @Test("Files of a module do not name each other's types in a circle")
    func circles() throws {
        let rule = try rule("circles")
        func names(_ texts: [String: String], in module: String = "StrataRules") -> [String] {
            let files = texts.map { SourceFile(path: "Sources/\(module)/\($0.key).swift", text: $0.value) }
            return rule.findings(in: files).map { String($0.path.split(separator: "/").last ?? "") }.sorted()
        }
        let chain = [
            "A": "struct A { var b: B }\n", "B": "struct B {} // A\n", "A+B": "extension A { var c: B { b } }\n",
        ]
        #expect(names(chain) == [])
        let circle = chain.merging(["B": "struct B { func a() { C() } }\n", "C": "enum C { case a(A) }\n"]) { $1 }
        #expect(names(circle) == ["A.swift", "B.swift", "C.swift"])
        #expect(names(circle, in: "CloudKit") == [])
        #expect(names(["A": "struct A { var b: B.A }\n", "B": "struct B {}\nlet c = D.A()\n"]) == [])
    }

    @Test("The engine's public declarations are the listed ones")
    func publicSurface() throws {
        let rule = try rule("public surface")
        let code = "public struct A {\n    package var b = 1\n    @frozen public enum C { case d }\n}\n"
        let listed = "StrataLog/A.swift: public struct A\n"
        func findings(_ list: String, in module: String = "StrataLog") -> [String] {
            let files = [
                SourceFile(path: "Sources/\(module)/A.swift", text: code),
                SourceFile(path: PublicSurfaceRule.list, text: list),
            ]
            return rule.findings(in: files).map { "\($0.path):\($0.line)" }
        }
        #expect(findings(listed + "StrataLog/A.swift: @frozen public enum C\n") == [])
        #expect(findings(listed) == ["Sources/StrataLog/A.swift:3"])
        #expect(findings("", in: "CloudKit") == [])
        // Each is listed as often as it is there, and whole.
        let twice = """
            extension A {
                public static func == (a: A, b: A) -> Bool { true }
                public init(
                    _ a: Int = 1, b: [Int: Int] = [:]
                ) {}
                public init(_ a: Int) {}
                public init(_ a: Int) {}
            }
            """
        let file = SourceFile(path: "Sources/StrataLog/A.swift", text: twice)
        #expect(
            PublicSurfaceRule.declarations(in: [file]).map(\.text) == [
                "StrataLog/A.swift: public static func == (a: A, b: A) -> Bool",
                "StrataLog/A.swift: public init( _ a: Int = 1, b: [Int: Int] = [:] )",
                "StrataLog/A.swift: public init(_ a: Int)", "StrataLog/A.swift: public init(_ a: Int)",
            ])
        let list = SourceFile(path: PublicSurfaceRule.list, text: "StrataLog/A.swift: public init(_ a: Int)\n")
        #expect(rule.findings(in: [file, list]).count == 3)
        #expect(findings(listed, in: "CloudKit") == ["\(PublicSurfaceRule.list):1"])
    }

    @Test("Imports and declared dependencies of a target are the same")
    func dependencies() throws {
        let rule = try rule("dependencies")
        func lines(_ dependencies: String, _ imports: String, in folder: String = "Sources/Upper") -> [String] {
            let manifest = """
                // .target(name: "Comment", dependencies: ["Lower"]),
                targets: [
                    .target(name: "Lower"), .executableTarget(name: "a-child"),
                    .target(name: "Upper", dependencies: [\(dependencies)]),
                    .testTarget(
                        name: "UpperTests", dependencies: [
                            "Upper", "a-child",
                        ], resources: [.copy("Golden")]),
                    .target(name: "Support", dependencies: [], path: "Tests/Upper/Support"),
                ]
                """
            let files = [
                ("Package.swift", manifest), ("Sources/Lower/A.swift", "import Glibc\n"),
                ("\(folder)/B.swift", imports),
                ("Tests/UpperTests/C.swift", "@testable import Upper\nimport Testing\n"),
            ]
            return rule.findings(in: files.map { SourceFile(path: $0, text: $1) }).map { "\($0.path):\($0.line)" }
        }
        #expect(lines("\"Lower\"", "import Foundation\nimport struct Lower.A\n") == [])
        #expect(lines("", "import Upper\n// import Lower\n") == [])
        #expect(lines("", "import Foundation\npublic import Lower\n") == ["Sources/Upper/B.swift:2"])
        #expect(lines("\"Lower\"", "import Foundation\n") == ["Package.swift:4"])
        #expect(lines("\"a-child\"", "let a = 1\n") == [])
        #expect(lines("", "import a_child\n") == ["Sources/Upper/B.swift:1"])
        #expect(lines("", "import Lower\n", in: "Tests/Upper/Support") == ["Tests/Upper/Support/B.swift:1"])
        #expect(lines("", "let a = 1\n", in: "Sources/Unheard") == ["Sources/Unheard/B.swift:1"])
    }

    @Test("A file is unused until another one names something of it")
    func unusedFiles() throws {
        let rule = try rule("unused files")
        func paths(_ texts: [String: String]) -> [String] {
            let files = texts.map { SourceFile(path: "Sources/StrataLog/\($0.key).swift", text: $0.value) }
            return rule.findings(in: files).map(\.path).sorted()
        }
        let user = "@main enum Program { let a = A() }\n"
        #expect(paths(["A": "struct A {}\n", "B": user]) == [])
        #expect(paths(["A": "struct A {}\n", "B": "@main enum Program {} // A\n"]) == ["Sources/StrataLog/A.swift"])
        let extended = ["A": "struct A {}\n", "A+Topic": "extension A { func go() {} }\n"]
        #expect(paths(extended.merging(["B": user]) { $1 }) == ["Sources/StrataLog/A+Topic.swift"])
        let caller = "@main enum Program { let a = A().go() }\n"
        #expect(paths(extended.merging(["B": caller]) { $1 }) == [])
        #expect(paths(["A": "struct A {}\n", "A+P": "extension A: Equatable {}\n", "B": user]) == [])
        #expect(paths(["main": "work()\n"]) == [])
        #expect(paths(["Reexports": "@_exported import Foundation\n"]) == [])
        #expect(paths(["P+Q": "extension P where Self: Q {\n    var witness: Int { 1 }\n}\n"]) == [])
        #expect(
            paths(["P+Q": "extension P where Q: R {\n    var helper: Int { 1 }\n}\n"]) == [
                "Sources/StrataLog/P+Q.swift"
            ])
    }
}
