// swift-tools-version: 6.2
import PackageDescription

// The smallest program that embeds Strata: tools/bench build measures its clean builds.
let package = Package(
    name: "client",
    dependencies: [.package(name: "strata", path: Context.environment["STRATA_PACKAGE"] ?? "../..")],
    targets: [.executableTarget(name: "client", dependencies: [.product(name: "CloudKit", package: "strata")])]
)
