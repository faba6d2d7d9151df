import Foundation
import StrataModel
import StrataStore

/// The names, addresses and roles of users; each call is a commit, as lasting as a save (docs/console.md §9).
extension CloudStore.Console {
    /// Declares a user, who from then on is found by record ID, and sets the name and the addresses. Earlier ones are
    /// replaced.
    ///
    /// ```swift
    /// var name = PersonNameComponents()
    /// name.givenName = "Anna"
    /// try store.console.addUser("anna", nameComponents: name, emails: ["anna@example.com"])
    /// ```
    ///
    /// - Parameters:
    ///   - user: The user, as in ``CloudStore/container(user:device:)``.
    ///   - nameComponents: The name, without its phonetic representation; nil if it is not known.
    ///   - emails: E-mail addresses, compared regardless of the case of A to Z.
    ///   - phones: Phone numbers, of which only the digits are compared.
    ///   - recordName: The name of the record of a user who is new to the store, beginning with one `_`; nil for a name
    ///     that cannot be guessed.
    /// - Throws: `invalidArguments` for an address that another user has, for an invalid address, and beyond 100
    ///   addresses of a kind.
    public func addUser(
        _ user: String, nameComponents: PersonNameComponents? = nil, emails: [String] = [], phones: [String] = [],
        recordName: String? = nil
    ) throws {
        try doing {
            var person = nameComponents.map { Person($0) } ?? Person()
            (person.emails, person.phones) = (emails, phones)
            try store.setPerson(person, of: user, recordName: recordName)
        }
    }

    /// Adds an e-mail address to a user, or, without `@`, a phone number.
    ///
    /// - Throws: `invalidArguments` as ``addUser(_:nameComponents:emails:phones:recordName:)``.
    public func addAddress(_ address: String, to user: String) throws {
        try doing { try store.addAddress(address, to: user) }
    }

    /// Gives a custom role of the public database to these users alone.
    ///
    /// ```swift
    /// try store.console.setRole("Editors", of: ["anna", "bert"])
    /// ```
    ///
    /// - Throws: `invalidArguments` for a name that is no role's, and beyond 100 roles of a user.
    public func setRole(_ role: String, of users: [String]) throws {
        try doing { try store.setRole(role, of: users) }
    }

    /// Answers for a user, on all devices, whether others may find the user by an address (B388).
    public func setDiscoverable(_ isDiscoverable: Bool, for user: String) throws {
        try doing { try store.setDiscoverability(isDiscoverable ? .granted : .denied, of: user) }
    }
}
