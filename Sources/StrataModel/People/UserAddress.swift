/// An address by which a user is found, in the form in which addresses are compared.
///
/// ```swift
/// UserAddress(.phone, "+1 (415) 555-0100") == UserAddress(.phone, "1 415 555 0100")
/// ```
package struct UserAddress: Sendable, Hashable {
    /// The kinds of addresses, by their numbers in keys (docs/format-keys.md §3).
    package enum Kind: UInt8, Sendable {
        case email = 1, phone, recordName

        /// Returns the kind of an address of a person: an e-mail address has an `@`, a phone number does not.
        package init(of address: String) { self = address.utf8.contains(UInt8(ascii: "@")) ? .email : .phone }

        /// The word for an address in errors and reports.
        package var noun: String {
            switch self {
            case .email: "e-mail address"
            case .phone: "phone number"
            case .recordName: "record name"
            }
        }

        package var nounWithArticle: String { self == .email ? "an \(noun)" : "a \(noun)" }
    }

    package let kind: Kind
    /// The e-mail address with A to Z in lowercase, the digits of the phone number, or the record name. Other letters
    /// keep their case: Unicode's tables grow, and a log must give the same views with every release.
    package let text: String

    package init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text =
            switch kind {
            case .email:
                String(
                    decoding: text.utf8.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 },
                    as: UTF8.self)
            case .phone:
                String(decoding: text.utf8.filter { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }, as: UTF8.self)
            case .recordName: text
            }
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && isSameText(left.text, right.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(bytesOf: text)
    }
}
