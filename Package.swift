// swift-tools-version: 6.2
import Foundation
import PackageDescription

// The layers of docs/architecture.md, one target each: an import that points up does not build.
let package = Package(
    name: "strata",
    products: [
        .executable(name: "strata", targets: ["strata"]),
        .library(name: "CloudKit", targets: ["CloudKit", "CoreLocation"]),
        // Runs an app's sync layer on several devices with bad luck (docs/sync-engine.md).
        .library(name: "StrataTesting", targets: ["StrataTesting"]),
        // Apple's module `os`, under another name: docs/decisions/0015-the-module-os-has-another-name.md.
        .library(name: "StrataOS", targets: ["StrataOS"]),
        // What client code needs of Combine and Foundation and Linux lacks: docs/guide/embedding.md.
        .library(name: "StrataPorting", targets: ["StrataPorting"]),
        // Stores on several machines (docs/replication.md): what orders their logs.
        .library(name: "StrataJetStream", targets: ["StrataJetStream"]),
        .library(name: "StrataPostgres", targets: ["StrataPostgres"]),
        // The engine without CloudKit (docs/engine.md). Tests/StyleTests/EngineSurface.txt lists what is public.
        .library(
            name: "StrataEngine",
            targets: [
                "StrataModel", "StrataLog", "StrataReplication", "StrataRules", "StrataQuery", "StrataStore",
                "StrataReplay",
            ]),
    ],
    targets: [
        .systemLibrary(name: "CStrataLZ4", pkgConfig: "liblz4", providers: [.apt(["liblz4-dev"])]),
        .systemLibrary(name: "CStrataSodium", pkgConfig: "libsodium", providers: [.apt(["libsodium-dev"])]),
        .target(name: "CStrata"),
        .target(name: "StrataModel"),
        .target(name: "StrataSystem", dependencies: ["CStrataLZ4", "CStrataSodium", "CStrata", "StrataModel"]),
        .target(name: "StrataLog", dependencies: ["StrataModel", "StrataSystem"]),
        .target(name: "StrataReplication", dependencies: ["StrataModel", "StrataSystem", "StrataLog"]),
        // What sequencers on servers share: addresses, and client libraries that are loaded when they are needed.
        .target(name: "StrataConnections", dependencies: ["StrataModel"]),
        .target(
            name: "StrataJetStream",
            dependencies: ["StrataModel", "StrataSystem", "StrataReplication", "StrataConnections"]),
        .target(
            name: "StrataPostgres",
            dependencies: ["StrataModel", "StrataSystem", "StrataReplication", "StrataConnections"]),
        .target(name: "StrataTree", dependencies: ["StrataModel", "StrataSystem"]),
        .target(name: "StrataViews", dependencies: ["StrataModel", "StrataSystem", "StrataLog", "StrataTree"]),
        .target(name: "StrataRules", dependencies: ["StrataModel", "StrataSystem", "StrataTree", "StrataViews"]),
        .target(name: "StrataQuery", dependencies: ["StrataModel", "StrataSystem", "StrataTree", "StrataViews"]),
        .target(
            name: "StrataStore",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataTree", "StrataViews",
                "StrataRules", "StrataQuery",
            ]),
        .target(
            name: "StrataReplay",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataTree", "StrataViews", "StrataRules", "StrataQuery",
                "StrataStore",
            ]),
        .target(name: "CoreLocation", dependencies: ["StrataModel"]),
        .target(name: "CCloudKit"),
        .target(
            name: "CloudKit",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataViews", "StrataRules",
                "StrataQuery", "StrataStore", "CoreLocation", "CCloudKit",
            ]),
        .target(name: "StrataTesting", dependencies: ["StrataSystem", "CloudKit"]),
        .target(name: "StrataOS", dependencies: ["StrataSystem"]),
        .target(name: "StrataPorting"),
        .target(
            name: "StrataTool",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataTree", "StrataViews", "StrataRules", "StrataQuery",
                "StrataReplication", "StrataConnections", "StrataJetStream", "StrataPostgres", "StrataStore",
                "StrataReplay",
            ],
            resources: [.embedInCode("Report/report.js"), .embedInCode("Report/report.css")]),
        .executableTarget(name: "strata", dependencies: ["StrataTool"]),
        .target(name: "ExampleArguments", path: "Examples/Arguments"),
        .executableTarget(
            name: "log-demo", dependencies: ["ExampleArguments", "StrataModel", "StrataSystem", "StrataLog"],
            path: "Examples/LogDemo"),
        .executableTarget(
            name: "small-program", dependencies: ["ExampleArguments", "StrataModel", "StrataStore"],
            path: "Examples/SmallProgram"),
        .executableTarget(
            name: "two-devices", dependencies: ["ExampleArguments", "CloudKit"], path: "Examples/TwoDevices"),
        .executableTarget(
            name: "groceries", dependencies: ["ExampleArguments", "CloudKit"], path: "Examples/Groceries"),
        .executableTarget(
            name: "lost-ticket", dependencies: ["ExampleArguments", "CloudKit"], path: "Examples/LostTicket"),
        .executableTarget(
            name: "three-servers",
            dependencies: ["ExampleArguments", "CloudKit", "StrataJetStream", "StrataPostgres"],
            path: "Examples/ThreeServers"),
        .executableTarget(
            name: "demo-store", dependencies: ["ExampleArguments", "CloudKit"], path: "Examples/DemoStore",
            exclude: ["commands.txt"]),

        .target(
            name: "TestSupport", dependencies: ["StrataModel", "StrataSystem", "StrataLog", "StrataReplication"],
            path: "Tests/Support",
            exclude: ["Needs", "read_log.py"]),
        // Things that a machine may lack. Apart, since programs without tests have no Testing.
        .target(
            name: "TestNeeds", dependencies: ["StrataJetStream", "StrataPostgres", "TestSupport"],
            path: "Tests/Support/Needs"),
        .executableTarget(
            name: "crash-child", dependencies: ["StrataModel", "StrataSystem", "StrataLog", "TestSupport"],
            path: "Tests/CrashChild"),
        .executableTarget(
            name: "reader-child", dependencies: ["StrataModel", "StrataSystem", "StrataTree"],
            path: "Tests/ReaderChild"),
        .executableTarget(
            name: "store-child",
            dependencies: ["StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataStore"],
            path: "Tests/StoreChild"),
        .executableTarget(
            name: "report-store", dependencies: ["StrataModel", "StrataSystem", "StrataStore"],
            path: "Tests/ReportStore"),
        // Kills, damage, faults and hostile input with real processes and files: tools/torture runs it.
        .executableTarget(
            name: "torture",
            dependencies: [
                "CloudKit", "StrataModel", "StrataSystem", "StrataLog", "StrataViews", "StrataRules", "StrataQuery",
                "StrataStore", "StrataTool", "ReferenceModel", "ModelComparison", "TestSupport",
            ], path: "Tests/Torture", exclude: ["Faults"]),
        // Servers, processes and the connections between them, and everything that can befall these: tools/nemesis.
        .executableTarget(
            name: "nemesis",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataConnections", "StrataJetStream",
                "StrataRules", "StrataViews", "StrataStore", "StrataReplay", "TestSupport",
            ], path: "Tests/Nemesis"),
        .testTarget(name: "StrataModelTests", dependencies: ["StrataModel", "StrataSystem", "TestSupport"]),
        .testTarget(
            name: "StrataSystemTests", dependencies: ["StrataModel", "StrataSystem", "CStrata", "TestSupport"]),
        .testTarget(
            name: "StrataLogTests",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "TestSupport", "crash-child",
            ],
            resources: [.copy("Golden")]),
        .testTarget(
            name: "StrataReplicationTests",
            dependencies: ["StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "TestSupport"]),
        .testTarget(
            name: "StrataConnectionsTests",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataConnections", "StrataJetStream",
                "StrataPostgres", "CloudKit", "TestSupport", "TestNeeds",
            ]),
        .testTarget(
            name: "StrataTreeTests",
            dependencies: ["StrataModel", "StrataSystem", "StrataTree", "TestSupport", "reader-child"],
            exclude: ["Golden"]),
        .testTarget(
            name: "StrataViewsTests",
            dependencies: ["StrataModel", "StrataSystem", "StrataLog", "StrataTree", "StrataViews", "TestSupport"]),
        // The rules once more, plain and slow; it shares nothing with StrataRules.
        .target(name: "ReferenceModel", dependencies: ["StrataModel"], path: "Tests/ReferenceModel"),
        .testTarget(name: "ReferenceModelTests", dependencies: ["StrataModel", "ReferenceModel"]),
        // A store beside that model: which version, share and record stands for which, and whether they agree.
        .target(
            name: "ModelComparison",
            dependencies: ["StrataModel", "StrataQuery", "StrataStore", "ReferenceModel"],
            path: "Tests/ModelComparison"),
        .testTarget(
            name: "StrataRulesTests",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataTree", "StrataViews", "StrataRules", "TestSupport",
            ]),
        .testTarget(
            name: "StrataQueryTests", dependencies: ["StrataModel", "StrataViews", "StrataQuery", "TestSupport"]),
        .testTarget(
            name: "StrataStoreTests",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataTree", "StrataViews",
                "StrataRules", "StrataQuery", "StrataStore", "ReferenceModel", "ModelComparison", "TestSupport",
                "store-child",
            ]),
        .testTarget(
            name: "StrataReplayTests",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataTree", "StrataViews", "StrataRules", "StrataQuery",
                "StrataStore", "StrataReplay", "TestSupport",
            ]),
        // The documents' scenarios as programs have them, in both language modes: only here may the compiler warn.
        .target(
            name: "SeedSamples", dependencies: ["CloudKit"], path: "Tests/SeedSamples"),
        .target(
            name: "SeedSamplesSwift5", dependencies: ["CloudKit"], path: "Tests/SeedSamplesSwift5",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .executableTarget(name: "cloudkit-child", dependencies: ["CloudKit"], path: "Tests/CloudKitChild"),
        .testTarget(
            name: "CloudKitTests",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataRules", "StrataStore", "CloudKit", "StrataTesting",
                "TestSupport", "SeedSamples", "SeedSamplesSwift5", "cloudkit-child",
            ],
            resources: [.copy("Golden")]),
        // The scenarios and archives of sharing once more, as programs in the older language mode have them.
        .testTarget(
            name: "ScenariosSwift5", dependencies: ["CloudKit"], path: "Tests/ScenariosSwift5",
            swiftSettings: [.swiftLanguageMode(.v5)]),
        // The scenarios of sync engines likewise.
        .testTarget(
            name: "SyncSwift5", dependencies: ["StrataModel", "StrataSystem", "StrataStore", "CloudKit"],
            path: "Tests/SyncSwift5", exclude: ["BenchNotes.swift", "SyncBenchTests.swift"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "StrataToolTests",
            dependencies: [
                "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataTree", "StrataViews",
                "StrataQuery", "StrataStore", "StrataReplay", "StrataTool", "TestSupport", "TestNeeds", "strata",
                "store-child", "log-demo", "demo-store", "lost-ticket", "two-devices", "small-program", "groceries",
                "three-servers",
            ],
            exclude: ["Golden"]),
        // The fuzzers run the same sources; here their corpus is replayed.
        .target(
            name: "FuzzedInputs",
            dependencies: ["StrataModel", "StrataSystem", "StrataLog", "StrataQuery", "StrataStore"],
            path: "Tests/Fuzz/Sources/FuzzBodies"),
        .testTarget(name: "FuzzReplayTests", dependencies: ["StrataModel", "StrataSystem", "FuzzedInputs"]),
        .testTarget(name: "StrataOSTests", dependencies: ["StrataSystem", "StrataOS", "TestSupport"]),
        .testTarget(name: "StrataPortingTests", dependencies: ["StrataPorting"]),
        .testTarget(name: "StyleTests", exclude: ["EngineSurface.txt", "ModuleLines.txt", "PageBudgets.txt"]),
    ],
    swiftLanguageModes: [.v6]
)

// What Strata is measured against is not built by whoever uses it: tools/bench asks for it. In a package of its own all
// of the engine would be compiled once more.
if Context.environment["STRATA_BENCH"] == "1" {
    package.targets += [
        .systemLibrary(
            name: "CLMDB", path: "Benchmarks/Sources/CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(
            name: "CSQLite", path: "Benchmarks/Sources/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CRocksDB", path: "Benchmarks/Sources/CRocksDB", pkgConfig: "rocksdb",
            providers: [.apt(["librocksdb-dev"])]),
        // Counts of allocations, retains and system calls, with limits: tools/guards.
        .target(name: "CCounters", path: "Benchmarks/Sources/CCounters"),
        .executableTarget(
            name: "strata-guards",
            dependencies: [
                "CCounters", "StrataModel", "StrataSystem", "StrataLog", "StrataQuery", "StrataStore", "TestSupport",
            ], path: "Benchmarks/Sources/strata-guards", exclude: ["limits.tsv", "text.tsv"],
            linkerSettings: [
                .unsafeFlags(
                    ["retain", "retain_n", "bridgeObjectRetain", "bridgeObjectRetain_n"].flatMap {
                        ["-Xlinker", "--wrap=swift_\($0)"]
                    })
            ]),
        .executableTarget(
            name: "strata-bench",
            dependencies: [
                "CLMDB", "CSQLite", "CRocksDB", "StrataModel", "StrataSystem", "StrataLog", "StrataTree",
                "StrataViews", "StrataReplication", "StrataConnections", "StrataJetStream", "StrataPostgres",
                "StrataRules", "StrataQuery", "StrataStore", "StrataReplay", "CloudKit", "TestSupport",
            ], path: "Benchmarks/Sources/strata-bench"),
    ]
}

// The fuzzers, which need libFuzzer's flags on everything that is built: tools/fuzz asks for them.
if Context.environment["STRATA_FUZZ"] == "1" {
    package.targets += [
        .target(name: "CFuzzer", path: "Tests/Fuzz/Sources/CFuzzer"),
        .target(name: "FuzzDriver", dependencies: ["CFuzzer"], path: "Tests/Fuzz/Sources/FuzzDriver"),
        .executableTarget(name: "fuzz-canary", dependencies: ["FuzzDriver"], path: "Tests/Fuzz/Sources/fuzz-canary"),
        .executableTarget(
            name: "fuzz-frame", dependencies: ["FuzzDriver", "StrataModel", "StrataTree"],
            path: "Tests/Fuzz/Sources/fuzz-frame"),
    ]
    package.targets += ["segment", "sealed", "event", "envelope", "schema", "predicate", "token"].map { name in
        .executableTarget(
            name: "fuzz-\(name)", dependencies: ["FuzzDriver", "FuzzedInputs"],
            path: "Tests/Fuzz/Sources/fuzz-\(name)")
    }
}

// The tools build with warnings as errors (deprecations excepted). Flags on the command line would be for all targets.
if Context.environment["STRATA_STRICT"] == "1" {
    for target in package.targets where target.type != .system && !target.name.hasPrefix("SeedSamples") {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning),
            ]
        target.cSettings = (target.cSettings ?? []) + [.enableWarning("all"), .treatAllWarnings(as: .error)]
        // Optimised where it halves the time of the tests, which is not in the upper layers; assertions are kept. Each
        // as a whole: file by file the compiler would do much of it several times.
        let optimized = [
            "StrataModel", "StrataSystem", "StrataLog", "StrataReplication", "StrataTree", "StrataViews",
            "TestSupport", "ReferenceModel", "ModelComparison", "StyleTests",
        ]
        if optimized.contains(target.name), Context.environment["STRATA_LEFT_OUT"] == nil {
            let flags = ["-O", "-assert-config", "Debug", "-whole-module-optimization", "-num-threads", "2"]
            target.swiftSettings?.append(.unsafeFlags(flags, .when(configuration: .debug)))
        }
    }
}

// Most tests have nothing for the thread sanitizer, and building them would take it minutes: tools/test --tsan names
// the files to leave out. What only those need is left out too.
if let files = Context.environment["STRATA_LEFT_OUT"]?.split(separator: ":") {
    package.targets.removeAll { $0.type == .test && files.contains("Tests/\($0.name)") }
    let unneeded = [
        "StrataTool", "strata", "FuzzedInputs", "ExampleArguments", "log-demo", "small-program", "two-devices",
        "lost-ticket", "groceries", "three-servers", "demo-store", "report-store", "torture",
        "nemesis",
    ]
    package.targets.removeAll { unneeded.contains($0.name) }
    package.products.removeAll { $0.name == "strata" }
    for target in package.targets where target.type == .test {
        let folder = "Tests/\(target.name)/"
        target.exclude += files.filter { $0.hasPrefix(folder) }.map { String($0.dropFirst(folder.count)) }
    }
}

// An archive of a release has the library, and beside this manifest one for the only Swift that can link it.
if Context.environment["STRATA_PREBUILT"] == "1" {
    let message = "STRATA_PREBUILT=1 asks for the prebuilt library, which an archive of a release has for one Swift\n"
    FileHandle.standardError.write(Data(message.utf8))
    exit(1)
}
