// swift-tools-version: 6.2
import PackageDescription

// The same program without the package strata: the library is an artifact bundle with a URL, or what pkg-config knows.
let library: Target
if let url = Context.environment["STRATA_URL"] {
    library = .binaryTarget(
        name: "StrataLibrary", url: url, checksum: Context.environment["STRATA_CHECKSUM"] ?? "")
} else {
    library = .systemLibrary(name: "StrataLibrary", pkgConfig: "strata-cloudkit")
}
let package = Package(
    name: "alone", targets: [library, .executableTarget(name: "client", dependencies: ["StrataLibrary"])])
