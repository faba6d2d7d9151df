// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "SharedList",
    platforms: [.macOS(.v13)],
    // A package elsewhere has .package(path: "../strata"): see docs/guide/embedding.md.
    dependencies: [.package(name: "strata", path: "../..")],
    targets: [
        .executableTarget(
            name: "shared-list",
            dependencies: [.product(name: "CloudKit", package: "strata", condition: .when(platforms: [.linux]))])
    ],
    swiftLanguageModes: [.v6]
)
