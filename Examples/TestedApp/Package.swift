// swift-tools-version: 6.2
import PackageDescription

/// Apple's platforms have their own.
let cloudKit = Target.Dependency.product(name: "CloudKit", package: "strata", condition: .when(platforms: [.linux]))

let package = Package(
    name: "TestedApp",
    platforms: [.macOS(.v13), .iOS(.v16)],
    // A package elsewhere has .package(path: "../strata"): see docs/guide/embedding.md.
    dependencies: [.package(name: "strata", path: "../..")],
    targets: [
        .target(name: "TestedApp", dependencies: [cloudKit]),
        .testTarget(name: "TestedAppTests", dependencies: ["TestedApp", cloudKit]),
    ],
    swiftLanguageModes: [.v6]
)
