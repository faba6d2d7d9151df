// swift-tools-version: 6.2
import PackageDescription

// A package of somebody else in the same build, which knows nothing of Strata.
let package = Package(
    name: "Neighbor",
    products: [.library(name: "Neighbor", targets: ["Neighbor"])],
    targets: [.target(name: "Neighbor")],
    swiftLanguageModes: [.v6]
)
