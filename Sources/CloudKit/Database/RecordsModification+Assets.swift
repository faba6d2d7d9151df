import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// The results of importing the assets of a request's records.
struct ImportedAssets: Sendable {
    /// The errors of the records whose assets cannot be imported, by index.
    var errors: [Int: CKError] = [:]
    /// The pins that keep the files until the request has been answered.
    var pins: [PinnedAsset] = []
}

extension RecordsModification {
    private var hasAssets: Bool {
        contents.contains { fields in
            fields.edits.mayHaveAssets || policy == .allKeys && fields.mayHaveStoredAssets
        }
    }

    /// Returns the modification with all assets imported into the store. Files are read on a thread where this blocks
    /// no other work.
    ///
    /// - Parameter isReplayed: True if the request is not sent again, so that its files may no longer exist.
    func importingAssets(
        for call: DatabaseCall, _ opened: CloudStore, isReplayed: Bool, _ progress: ItemProgress<Int>?
    ) async -> RecordsModification {
        guard hasAssets else { return self }
        if isReplayed {
            return replacingAssets { _, _ in FieldValue.Asset(hash: ContentHash(first: 0, second: 0), size: 0) }
        }
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: importingAssets(for: call, into: opened.store, progress))
            }
        }
    }

    private func importingAssets(
        for call: DatabaseCall, into store: Store, _ progress: ItemProgress<Int>?
    ) -> RecordsModification {
        var pins: [PinnedAsset] = []
        let files = imported(into: store, progress)
        var modification = replacingAssets { asset, id in
            let pin: PinnedAsset
            switch asset.source {
            case .file(let url):
                guard let file = files[url] else { throw CKError(.internalError, message: "'\(url)' was not read.") }
                pin = try file.get()
            case .stored(let value, let copy):
                if let copy {
                    pin = try store.importAsset(value, from: copy.home.store)
                } else {
                    // From an archive, which could contain any hash.
                    let owner = call.client.userRecordName
                    pin = try store.pinAsset(
                        value, of: id.model(for: owner), in: call.database, as: call.client.actor)
                }
            }
            pins.append(pin)
            return pin.value
        }
        modification.assets.pins = pins
        return modification
    }

    /// The number of files read at a time: one is hashed while another is synced.
    private static let lanes = 4

    private func imported(
        into store: Store, _ progress: ItemProgress<Int>?
    ) -> [URL: Result<PinnedAsset, any Error>] {
        // The indexes of the records that have each file.
        var urls: [URL: Set<Int>] = [:]
        for (place, fields) in contents.enumerated() {
            for case .file(let url) in fields.edits.flatMap({ $0.edit.content?.assets ?? [] }).map(\.source) {
                urls[url, default: []].insert(place)
            }
        }
        let copied = progress.map { CopiedFiles(urls, report: $0) }
        let waiting = Lock(Array(urls.keys))
        let imported: Lock<[URL: Result<PinnedAsset, any Error>]> = Lock([:])
        DispatchQueue.concurrentPerform(iterations: min(Self.lanes, urls.count)) { _ in
            while let url = waiting.withLock({ $0.popLast() }) {
                let result = Result<PinnedAsset, any Error> {
                    guard url.isFileURL else {
                        throw CKError(.assetFileNotFound, message: "'\(url)' is not a file URL.")
                    }
                    return try store.importAsset(at: url.path) { copied?.note(url, $0) }
                }
                imported.withLock { $0[url] = result }
            }
        }
        return imported.withLock { $0 }
    }

    /// - Parameter value: Returns the stored form of an asset; an error it throws becomes the error of the record.
    private func replacingAssets(
        _ value: (CKAsset, _ of: CKRecord.ID) throws -> FieldValue.Asset
    ) -> RecordsModification {
        var modification = self
        for (index, record) in saves.enumerated() {
            func replacing(_ content: FieldContent?, _ key: String) -> FieldContent? {
                do { return try content?.replacingAssets { try value($0, record.recordID) } } catch {
                    let first = modification.assets.errors[index]
                    modification.assets.errors[index] = first ?? Self.failure(of: key, record, error)
                    return nil
                }
            }
            for (key, edit) in contents[index].edits {
                guard let content = replacing(edit.content, key) else { continue }
                modification.contents[index].edits.replaceContent(content, forKey: key)
            }
            guard policy == .allKeys else { continue }
            // These are sent unchanged, once they are pinned.
            for (key, content) in contents[index].originals(isEncrypted: false)
            where contents[index].edits[key] == nil {
                _ = replacing(content, key)
            }
        }
        return modification
    }

    private static func failure(of key: String, _ record: CKRecord, _ error: any Error) -> CKError {
        let cause = CKError(engine: error)
        let place = "Key \"\(key)\" of record \(record.recordID.recordName) (\(record.recordType))"
        return CKError(cause.code, message: "\(place): \(cause.localizedDescription)", cause: cause)
    }
}

extension RecordFields {
    fileprivate var mayHaveStoredAssets: Bool {
        switch origin {
        case .new: false
        case .stored(let record, _): (try? record.hasAssets) ?? false
        case .archived(let record): record.fields.values.contains { !$0.assets.isEmpty }
        }
    }
}

extension FieldContent {
    fileprivate var assets: [CKAsset] {
        switch self {
        case .asset(let asset): [asset]
        case .assets(let assets): assets
        case .plain, .reference, .references, .mistake: []
        }
    }

    /// Returns nil if the content has no assets.
    fileprivate func replacingAssets(_ value: (CKAsset) throws -> FieldValue.Asset) rethrows -> FieldContent? {
        switch self {
        case .asset(let asset): .asset(CKAsset(stored: try value(asset)))
        case .assets(let assets): .assets(try assets.map { CKAsset(stored: try value($0)) })
        case .plain, .reference, .references, .mistake: nil
        }
    }
}
