/// The failure of a call of the client library: its status, and the library's own words.
package struct NATSFailure: Error, Sendable, CustomStringConvertible {
    /// The status of a call, numbered as in the library's header.
    struct Status: RawRepresentable, Hashable, Sendable {
        let rawValue: Int32

        static let ok = Self(rawValue: 0)
        static let secureConnectionWanted = Self(rawValue: 8)
        static let secureConnectionRequired = Self(rawValue: 9)
        static let authenticationFailed = Self(rawValue: 11)
        static let maximumPayload = Self(rawValue: 21)
        static let timeout = Self(rawValue: 26)
        static let secureLayer = Self(rawValue: 29)
        static let noResponders = Self(rawValue: 34)
    }

    let status: Status
    let text: String

    package var description: String { "\(text) (status \(status.rawValue))" }

    /// True if trying again will not help: the account, the certificate or the kind of connection is wrong.
    var isFinal: Bool {
        [.secureConnectionWanted, .secureConnectionRequired, .authenticationFailed, .secureLayer].contains(status)
    }
}
