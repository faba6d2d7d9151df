// swift-tools-version: 6.2
import PackageDescription

// A package of its own, because libFuzzer's flags must reach everything that is built with it: see tools/fuzz.
let package = Package(
    name: "strata-fuzz",
    dependencies: [.package(name: "strata", path: "../..")],
    targets: [
        .target(name: "CFuzzer"),
        .target(name: "FuzzDriver", dependencies: ["CFuzzer"]),
        .executableTarget(name: "fuzz-canary", dependencies: ["FuzzDriver"]),
        .target(name: "FuzzBodies", dependencies: [.product(name: "StrataEngine", package: "strata")]),
        .executableTarget(name: "fuzz-segment", dependencies: ["FuzzDriver", "FuzzBodies"]),
        .executableTarget(name: "fuzz-sealed", dependencies: ["FuzzDriver", "FuzzBodies"]),
        .executableTarget(name: "fuzz-event", dependencies: ["FuzzDriver", "FuzzBodies"]),
        .executableTarget(name: "fuzz-envelope", dependencies: ["FuzzDriver", "FuzzBodies"]),
        .executableTarget(name: "fuzz-schema", dependencies: ["FuzzDriver", "FuzzBodies"]),
        .executableTarget(
            name: "fuzz-page", dependencies: ["FuzzDriver", .product(name: "StrataEngine", package: "strata")]),
        .executableTarget(name: "fuzz-predicate", dependencies: ["FuzzDriver", "FuzzBodies"]),
        .executableTarget(name: "fuzz-token", dependencies: ["FuzzDriver", "FuzzBodies"]),
    ],
    swiftLanguageModes: [.v6]
)
