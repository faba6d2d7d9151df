/// The bytes that were written and the calls that wrote and synced them, by the kind of file.
package struct WriteCounts: Sendable, Equatable {
    package enum Kind: Int, Sendable, CaseIterable {
        /// Segments of the log: headers and commits.
        case commits
        /// Zeros written into segments ahead of commits.
        case zeros
        /// Segments that are being sealed.
        case sealing
        /// Everything that is folded from the log.
        case views
        case other

        /// The kind of the file at a path; a segment also gets ``zeros``.
        init(path: String) {
            let parts = path.split(separator: "/")
            let (folder, name) = (parts.dropLast().last ?? "", parts.last ?? "")
            if folder.hasPrefix("views") || name.hasPrefix("views") {
                self = .views
            } else if folder == "log", name == "sealing" {
                self = .sealing
            } else if folder == "log", name == "spare" || name.hasSuffix(".seg") {
                self = .commits
            } else {
                self = .other
            }
        }
    }

    package struct Count: Sendable, Equatable {
        package var bytes = 0
        package var writes = 0
        package var syncs = 0

        static func + (left: Self, right: Self) -> Self {
            Self(bytes: left.bytes + right.bytes, writes: left.writes + right.writes, syncs: left.syncs + right.syncs)
        }
    }

    private var counts = Array(repeating: Count(), count: Kind.allCases.count)

    package init() {}

    package subscript(kind: Kind) -> Count {
        get { counts[kind.rawValue] }
        set { counts[kind.rawValue] = newValue }
    }

    package var total: Count { counts.reduce(Count(), +) }

    package static func + (left: Self, right: Self) -> Self {
        var sum = left
        for kind in Kind.allCases { sum[kind] = left[kind] + right[kind] }
        return sum
    }

    package static func - (left: Self, right: Self) -> Self {
        var rest = left
        for kind in Kind.allCases {
            rest[kind].bytes -= right[kind].bytes
            rest[kind].writes -= right[kind].writes
            rest[kind].syncs -= right[kind].syncs
        }
        return rest
    }
}
