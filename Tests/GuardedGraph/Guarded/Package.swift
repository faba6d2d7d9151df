// swift-tools-version: 6.2
import PackageDescription

// A library like many: it knows nothing of Strata, says `#if canImport(CloudKit)`, and stands on other modules, so that
// it is compiled while CloudKit may or may not be there.
let below = (1...10).map { "Below\($0)" }
let package = Package(
    name: "Guarded", products: [.library(name: "Guarded", targets: ["Guarded"])],
    targets: below.indices.map { index in
        .target(name: below[index], dependencies: below[..<index].suffix(1).map { .byName(name: $0) })
    } + [.target(name: "Guarded", dependencies: [.byName(name: below[9])])]
)
