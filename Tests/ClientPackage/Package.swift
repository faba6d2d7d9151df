// swift-tools-version: 6.2
import PackageDescription

/// A warning that these modules give their clients is an error; code that names what is deprecated gets one.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error), .treatWarning("DeprecatedDeclaration", as: .warning)]
let strataOS = Target.Dependency.product(name: "StrataOS", package: "strata")
let cloudKit = Target.Dependency.product(name: "CloudKit", package: "strata")

// Clients of the products as they are outside of Strata's own package: see tools/client-package.
let package = Package(
    name: "client",
    dependencies: [.package(name: "strata", path: "../.."), .package(path: "Neighbor")],
    targets: [
        .target(name: "Surface", dependencies: [cloudKit], swiftSettings: strict),
        .target(
            name: "SurfaceSwift5", dependencies: [cloudKit], swiftSettings: strict + [.swiftLanguageMode(.v5)]),
        // Both ways to log: a change of the source, and none (docs/guide/logging.md).
        .target(name: "Logging", dependencies: [strataOS], swiftSettings: strict),
        .target(
            name: "LoggingAsOS", dependencies: [strataOS],
            swiftSettings: strict + [.unsafeFlags(["-module-alias", "os=StrataOS"])]),
        // An app's code as it is, beside one file that is for Linux (docs/guide/embedding.md).
        .target(
            name: "Ported", dependencies: [cloudKit, .product(name: "StrataPorting", package: "strata")],
            swiftSettings: strict + [.unsafeFlags(["-module-alias", "Combine=StrataPorting"])]),
        .executableTarget(
            name: "client",
            dependencies: [
                "Surface", "SurfaceSwift5", "Logging", "LoggingAsOS", "Ported",
                .product(name: "Neighbor", package: "Neighbor"),
                strataOS,
            ],
            swiftSettings: strict),
        // The program of docs/engine.md, which uses only what the engine makes public. The folders are links.
        .target(name: "ExampleArguments", swiftSettings: strict),
        .executableTarget(
            name: "engine-client",
            dependencies: ["ExampleArguments", .product(name: "StrataEngine", package: "strata")],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
