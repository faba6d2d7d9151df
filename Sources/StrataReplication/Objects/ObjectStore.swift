import StrataModel
import StrataSystem

/// Objects, each named by the hash of its bytes, that the servers of a store's log keep for all its processes
/// (docs/replication-internals.md §10).
///
/// ```swift
/// let objects = ObjectStore(keeper, SystemRandom())
/// try objects.claim(for: store)
/// try objects.put(hash, file, byteCount: 3_000_000)
/// try objects.fetch(hash) { bytes, position in try copy.write(bytes, at: position) }
/// ```
/// An object's last bytes are in the message that makes it whole. The pieces before them are messages of their own,
/// whose names have an ID that is drawn for each upload: they are acknowledged before the whole is sent, and are never
/// changed. So an upload that was cut off leaves pieces that nothing names, and two uploads do not mix.
package final class ObjectStore: Sendable {
    private static let usualPieceBytes = 512 << 10
    private static let pauseMilliseconds = 20
    private static let ownerName = "owner"
    private static let wholeName = "whole"
    /// Another process may replace a damaged object at the same time.
    private static let maximumTries = 4

    private let keeper: any MessageKeeper
    private let random: any RandomSource
    private let outcomeMilliseconds: Int

    /// - Parameter outcomeMilliseconds: the time in which a message must be acknowledged, however often it is sent.
    package init(_ keeper: any MessageKeeper, _ random: any RandomSource, outcomeMilliseconds: Int = 10_000) {
        (self.keeper, self.random, self.outcomeMilliseconds) = (keeper, random, outcomeMilliseconds)
    }

    package func close() { keeper.close() }

    // MARK: The owner

    /// Returns true if a store has claimed the objects.
    package func belongs(to store: Identifier) throws -> Bool {
        try newest(Self.ownerName)?.bytes == Array(store.description.utf8)
    }

    /// Returns the message of a name, or nil if there is none for sure.
    private func newest(_ name: String) throws -> KeptMessage? {
        if let message = try keeper.message(name) { return message }
        try keeper.confirm()
        return try keeper.message(name)
    }

    /// Makes a store the owner of the objects, unless it is already.
    ///
    /// - Throws: `.invalidArgument` if they belong to another store.
    package func claim(for store: Identifier) throws {
        let own = Array(store.description.utf8)
        try Self.check(try keeper.message(Self.ownerName) ?? replace(0, of: Self.ownerName, with: own), store)
    }

    /// Checks that a store can become the owner of the objects.
    ///
    /// - Throws: `.invalidArgument` if they belong to another store.
    package func checkOwner(for store: Identifier) throws {
        try newest(Self.ownerName).map { try Self.check($0, store) }
    }

    private static func check(_ found: KeptMessage, _ store: Identifier) throws {
        guard found.bytes == Array(store.description.utf8) else {
            throw StrataError(
                .invalidArgument, "The assets in the cluster belong to another store.",
                .init(expected: "store \(store)", found: String(decoding: found.bytes, as: UTF8.self)))
        }
    }

    // MARK: Writing

    /// Keeps the bytes of a file, unless an object with these bytes is whole; on return they are acknowledged.
    ///
    /// - Throws: `.badChecksum` if the file has other bytes; `.unreachable` if the servers do not confirm in time.
    package func put(_ hash: ContentHash, _ file: any File, byteCount: Int) throws {
        let name = "\(hash).\(Self.wholeName)"
        var found = try keeper.message(name)
        for _ in 0..<Self.maximumTries {
            if found != nil, try contains(hash) { return }
            let upload = random.nextIdentifier()
            let whole = try sendPieces(of: hash, file, byteCount: byteCount, upload)
            let kept = try replace(found?.number ?? 0, of: name, with: whole.encoded())
            let winner = try? WholeObject(decoding: kept.bytes).upload
            if winner == upload {
                // Nothing names the pieces of the damaged object now.
                let damaged = found.flatMap { try? WholeObject(decoding: $0.bytes).upload }
                if let damaged { try? keeper.remove(below: "\(hash).\(damaged)") }
                return
            }
            // Another process was first, so this upload can never become the object.
            try? keeper.remove(below: "\(hash).\(upload)")
            found = try newest(name)
        }
        throw StrataError(.unreachable, "Other processes keep uploading the same bytes first; try again.")
    }

    /// Sends all bytes of a file but the last ones, and returns what makes the object whole.
    private func sendPieces(
        of hash: ContentHash, _ file: any File, byteCount: Int, _ upload: Identifier
    ) throws -> WholeObject {
        let pieceBytes = min(Self.usualPieceBytes, max(1, try keeper.maximumMessageBytes() - WholeObject.headerBytes))
        let pieceCount = max(0, byteCount - 1) / pieceBytes
        var hasher = ContentHasher()
        for index in 0..<pieceCount {
            let piece = try file.read(count: pieceBytes, at: index * pieceBytes)
            piece.withUnsafeBytes { hasher.update($0) }
            try keep(piece, as: "\(hash).\(upload).\(index)")
        }
        let start = pieceCount * pieceBytes
        let lastBytes = try file.read(count: byteCount - start, at: start)
        lastBytes.withUnsafeBytes { hasher.update($0) }
        guard try ContentHash(bytes: hasher.finish()) == hash else {
            throw StrataError(
                .badChecksum, "A file of an asset is damaged, or changed while it was sent.", .init(path: file.path))
        }
        return WholeObject(hash, upload, pieceCount: pieceCount, pieceBytes: pieceBytes, lastBytes: lastBytes)
    }

    /// Keeps a message whose name no other upload uses.
    private func keep(_ bytes: [UInt8], as name: String) throws {
        try repeating {
            switch keeper.keep(bytes, as: name, expecting: nil) {
            case .accepted: (true, nil)
            case .taken: (nil, nil)
            case .unknown(let error): (nil, error)
            case .refused(let error): throw error
            }
        }
    }

    /// Puts a message in the place of the one with a number, unless another process does; returns the one that is there
    /// then.
    private func replace(_ number: UInt64, of name: String, with bytes: [UInt8]) throws -> KeptMessage {
        try repeating {
            var reason: StrataError?
            switch keeper.keep(bytes, as: name, expecting: number) {
            case .accepted(let number): return (KeptMessage(number: number, bytes: bytes), nil)
            case .taken: break
            case .unknown(let error): reason = error
            case .refused(let error): throw error
            }
            // Another message, or an earlier try of this one, may be in, or on its way.
            let found = try keeper.message(name)
            return (found.flatMap { $0.number > number ? $0 : nil }, reason)
        }
    }

    /// Calls `body` until it returns a result, for as long as an outcome may take.
    @discardableResult
    private func repeating<Result>(_ body: () throws -> (Result?, StrataError?)) throws -> Result {
        let start = ContinuousClock.now
        while true {
            let (result, reason) = try body()
            if let result { return result }
            guard start.duration(to: .now) < .milliseconds(outcomeMilliseconds) else {
                throw StrataError(
                    .unreachable, "The servers do not confirm that they keep an object.", cause: reason)
            }
            Monitor(true).wait(milliseconds: Self.pauseMilliseconds) { _ in nil as Void? }
        }
    }

    // MARK: Reading

    /// Returns true if all bytes of an object are there.
    package func contains(_ hash: ContentHash) throws -> Bool {
        do {
            try fetch(hash) { _, _ in }
            return true
        } catch let error as StrataError where [.notFound, .badChecksum, .malformed].contains(error.code) {
            return false
        }
    }

    /// Calls `body` with the bytes of an object in order, and compares them with its hash at the end. They may come
    /// again from the beginning, so they are good only once this has returned.
    ///
    /// - Throws: `.notFound` if the object or a piece is missing, `.badChecksum` or `.malformed` if it is damaged;
    ///   `.unreachable` if the servers do not answer.
    package func fetch(_ hash: ContentHash, _ body: (_ bytes: [UInt8], _ position: Int) throws -> Void) throws {
        var tried: Identifier?
        for _ in 0..<Self.maximumTries {
            guard let message = try newest("\(hash).\(Self.wholeName)") else { break }
            let whole = try WholeObject(decoding: message.bytes)
            if whole.upload == tried { break }
            if try read(whole, hash, body) { return }
            tried = whole.upload
        }
        throw StrataError(
            .notFound,
            tried == nil ? "The cluster does not have the object." : "The cluster has lost a piece of the object.",
            .init(found: "\(hash)"))
    }

    /// Returns false if a piece is missing.
    private func read(
        _ whole: WholeObject, _ hash: ContentHash, _ body: (_ bytes: [UInt8], _ position: Int) throws -> Void
    ) throws -> Bool {
        var hasher = ContentHasher()
        var position = 0
        for index in 0..<whole.pieceCount {
            guard let piece = try newest("\(hash).\(whole.upload).\(index)")?.bytes else { return false }
            piece.withUnsafeBytes { hasher.update($0) }
            try body(piece, position)
            position += piece.count
        }
        whole.lastBytes.withUnsafeBytes { hasher.update($0) }
        try body(whole.lastBytes, position)
        let found = try ContentHash(bytes: hasher.finish())
        guard whole.hash == hash, found == hash else {
            throw StrataError(.badChecksum, "An object in the cluster is damaged.", .init(found: "\(hash)"))
        }
        return true
    }

    /// Returns the hashes of the objects that were made whole.
    package func list() throws -> [ContentHash] {
        try keeper.names("*.\(Self.wholeName)").compactMap { ContentHash($0.prefix { $0 != "." }) }
    }

    // MARK: Removing

    /// Removes an object. No process may be about to name it.
    package func remove(_ hash: ContentHash) throws { try keeper.remove(below: "\(hash)") }

    /// Removes the pieces of uploads that were cut off, and returns the number of these uploads. No upload may be under
    /// way.
    package func removeLeftovers() throws -> Int {
        let uploads = Set(try keeper.names("*.*.*").map { $0.prefix(upTo: $0.lastIndex(of: ".") ?? $0.endIndex) })
        var count = 0
        for upload in uploads {
            let words = upload.split(separator: ".")
            let message = try newest("\(words[0]).\(Self.wholeName)")
            if let message {
                // A damaged message does not say which pieces its object has, so all are kept.
                guard let whole = try? WholeObject(decoding: message.bytes) else { continue }
                if whole.upload.description == words[1] { continue }
            }
            try keeper.remove(below: String(upload))
            count += 1
        }
        return count
    }
}
