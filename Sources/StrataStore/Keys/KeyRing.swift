import StrataModel
import StrataRules
import StrataSystem

/// The users' keys, shared by all handles of a store. They are read and created when they are first needed, and read
/// again when another process has changed them.
///
/// Invariants: a key is durable before anything is sealed with it. While a user's encrypted data is being reset,
/// nothing is sealed for the user, and requests with values sealed before are rejected: committed values can be opened
/// until their key is destroyed.
final class KeyRing: Sendable {
    private struct State {
        /// Nil if the keys were not read yet.
        var book: KeyBook?
        /// The users whose encrypted data is being reset, by the bytes of their names.
        var resets: Set<[UInt8]> = []
        /// The keys that are being destroyed.
        var leaving: Set<UInt64> = []
    }

    private let state: Monitor<State>
    /// Nil if keys are in memory only.
    private let file: (any KeyStorage)?
    private let random: any RandomSource
    /// True if another process writes the file.
    private let isFollowed: Bool
    private var isShared: Bool { file?.isShared ?? false }

    init(_ file: (any KeyStorage)?, _ random: any RandomSource, isFollowed: Bool = false) {
        self.file = file
        self.random = random
        self.isFollowed = isFollowed
        state = Monitor(State(book: file == nil ? KeyBook() : nil))
    }

    private func book(_ state: inout State) throws -> KeyBook {
        if let book = state.book, try file?.isCurrent() ?? true { return book }
        state.book = nil
        let book = try file?.read() ?? KeyBook()
        state.book = book
        return book
    }

    /// Forgets the keys if another process may have replaced the file, so that it is read again.
    func forget() {
        guard isFollowed else { return }
        state.withLock { $0.book = nil }
    }

    /// Overwrites what other processes left of former keys.
    func clean() throws { try file?.clean() }

    // MARK: Values

    func seal(_ text: [UInt8], at place: SealedPlace) throws -> FieldValue.Sealed {
        let (id, key) = try currentKey(of: place.user)
        let nonce = random.nextBytes(count: AuthenticatedCipher.nonceBytes)
        let ciphertext = AuthenticatedCipher(key: key).seal(text, nonce: nonce, bound: place.bytes)
        return FieldValue.Sealed(keyID: id, nonce: nonce, ciphertext: ciphertext)
    }

    func open(_ sealed: FieldValue.Sealed, at place: SealedPlace) throws -> [UInt8] {
        let context = StrataError.Context(
            expected: "a key of user '\(place.user)'", found: "\(place.text), sealed with key \(sealed.keyID)")
        guard let entry = try entry(sealed.keyID) else {
            throw StrataError(
                .keyMissing, "The store does not have the key of an encrypted value; its key file was lost.",
                context)
        }
        guard let key = entry.key else {
            throw StrataError(
                .keyDestroyed, "The key of an encrypted value was destroyed when its user's encrypted data was reset.",
                context)
        }
        guard isSameText(entry.user, place.user),
            let text = AuthenticatedCipher(key: key).open(sealed.ciphertext, nonce: sealed.nonce, bound: place.bytes)
        else {
            throw StrataError(
                .sealBroken, "An encrypted value cannot be decrypted: it was changed or moved, or has another key.",
                context)
        }
        return text
    }

    private func entry(_ id: UInt64) throws -> KeyBook.Entry? {
        try state.withLock { state in
            if let entry = try book(&state).entry(id) { return entry }
            guard isFollowed else { return nil }
            state.book = nil
            return try book(&state).entry(id)
        }
    }

    /// Returns a user's key, which is created if there is none; waits for the end of a reset.
    private func currentKey(of user: String) throws -> (id: UInt64, key: [UInt8]) {
        guard !user.isEmpty, user.utf8.count <= Envelope.maximumNameBytes else {
            throw StrataError(
                .invalidArgument, "A key needs the name of a user.",
                .init(expected: "a name of 1 to \(Envelope.maximumNameBytes) bytes", found: "'\(user)'"))
        }
        return try state.wait { state -> (id: UInt64, key: [UInt8])? in
            if state.resets.contains([UInt8](user.utf8)) { return nil }
            while true {
                if let entry = try book(&state).current(of: user), let key = entry.key {
                    // Another process may have made the key, and lost power before its file had a durable name.
                    try file?.makeDurable()
                    return (entry.id, key)
                }
                let key = random.nextBytes(count: AuthenticatedCipher.keyBytes)
                try change(&state) { book in
                    guard book.current(of: user) == nil else { return false }
                    _ = book.add(key, of: user)
                    return true
                }
            }
        }
    }

    // MARK: Resets

    /// - Throws: ``StrataError`` `keyDestroyed` if a request has a value that could not be opened, because it was
    ///   sealed before its user's encrypted data was reset.
    func requireKept(_ request: Request) throws {
        guard case .modifyRecords(let body) = request.content else { return }
        func areAllKept(_ state: inout State) -> Bool {
            state.leaving.isEmpty && state.book?.former.isEmpty ?? true
        }
        // Other processes may have retired keys at any time.
        if !isShared, state.withLock(areAllKept) { return }
        var ids: Set<UInt64> = []
        for save in body.saves {
            for change in save.fields {
                if case .sealed(let sealed)? = change.value { ids.insert(sealed.keyID) }
            }
        }
        if ids.isEmpty { return }
        let gone = try state.withLock { state in
            let book = isShared ? try book(&state) : state.book
            return ids.first { state.leaving.contains($0) || book?.former.contains($0) ?? false }
        }
        guard let gone else { return }
        throw StrataError(
            .keyDestroyed, "A value was encrypted before its user's encrypted data was reset: encrypt it again.",
            .init(found: "key \(gone)"))
    }

    /// Destroys a user's key once `commit` has returned; if `commit` fails, the key stays.
    ///
    /// Other processes must no longer use a shared key when the commit is in the log: it is retired first. If
    /// `commit` fails, it stays retired; values that are sealed later get another key.
    func destroyKey<Result>(of user: String, after commit: () throws -> Result) throws -> Result {
        let name = [UInt8](user.utf8)
        let leaving = try state.wait { state -> [UInt64]? in
            // One reset of a user at a time.
            if state.resets.contains(name) { return nil }
            if isShared { try change(&state) { $0.retireKey(of: user) } }
            let book = try book(&state)
            let ids = isShared ? book.retired(of: user) : [book.current(of: user)?.id].compactMap(\.self)
            state.resets.insert(name)
            state.leaving.formUnion(ids)
            return ids
        }
        defer {
            state.withLock { state in
                state.resets.remove(name)
                state.leaving.subtract(leaving)
            }
            state.notifyAll()
        }
        let result = try commit()
        try state.withLock { state in
            try change(&state) { $0.destroyKeys(leaving) }
            // An earlier reset may have ended before it had emptied the older files.
            try file?.clean()
        }
        return result
    }

    /// Changes the keys; nothing changes if the body returns false. It is called again if another process was faster.
    private func change(_ state: inout State, _ body: (inout KeyBook) -> Bool) throws {
        while true {
            var book = try book(&state)
            guard body(&book) else { return }
            // After a failure it is unknown which of the two the file has, so it is read again.
            if file != nil { state.book = nil }
            if try file?.replace(with: book) ?? true {
                state.book = book
                return
            }
        }
    }
}
