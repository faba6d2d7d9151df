// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that using Strata never builds what it is measured against.
let package = Package(
    name: "strata-benchmarks",
    dependencies: [.package(name: "strata", path: "..")],
    targets: [
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "strata-bench",
            dependencies: [
                "CLMDB", "CSQLite", .product(name: "StrataEngine", package: "strata"),
                .product(name: "CloudKit", package: "strata"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
