import Foundation
import StrataLog
import StrataModel
import StrataReplay
import StrataStore
import StrataSystem
import StrataTree
import StrataViews

/// Creates a store with the commits of a new timeline, and the files that the old store keeps outside its log.
struct WhatIfStore {
    private let draft: StoreDraft
    private let access: StateAccess
    private let source: String

    /// - Throws: ``StrataError`` `alreadyExists` if the path exists; ``UsageError`` for a path inside the store.
    init(_ path: String, of access: StateAccess, _ source: String) throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().resolvingSymlinksInPath().path
        let old = URL(fileURLWithPath: source).resolvingSymlinksInPath().path
        guard !"\(folder)/".hasPrefix("\(old)/") else {
            throw UsageError("NEWSTORE is inside STORE; choose another path")
        }
        guard FileManager.default.fileExists(atPath: folder) else {
            throw UsageError("NEWSTORE's folder \(folder) does not exist; create it, or choose another path")
        }
        draft = try StoreDraft(path)
        self.access = access
        self.source = StorePaths(source).store
    }

    /// Calls `body` with an empty log, or one with the base of the old store. Once all commits are in the log, `body`
    /// passes the final state to its second argument.
    func make<Result>(_ body: (any EventLog, _ didFinish: (Snapshot) throws -> Void) throws -> Result) throws
        -> Result
    {
        try draft.make { didOpen in
            let old = try access.log()
            let container = old.identity.containerIdentifier
            return try SegmentedLog.make(at: draft.draftPath, withBaseOf: old, container: container) { log in
                try didOpen()
                return try body(log) { try copyFiles(of: $0) }
            }
        }
    }

    /// Copies the files of referenced assets, and the keys of encrypted values.
    private func copyFiles(of state: Snapshot) throws {
        try state.forEachAsset { hash, _ in
            let name = hash.description
            let folder = "\(draft.draftPath)/assets/\(name.prefix(2))"
            // A file missing in the old store cannot be copied.
            guard FileManager.default.fileExists(atPath: "\(source)/assets/\(name.prefix(2))/\(name)") else {
                return true
            }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try copy("assets/\(name.prefix(2))/\(name)")
            return true
        }
        if FileManager.default.fileExists(atPath: source + "/keys") { try copy("keys") }
    }

    private func copy(_ name: String) throws {
        let target = "\(draft.draftPath)/\(name)"
        try FileManager.default.copyItem(atPath: "\(source)/\(name)", toPath: target)
        let file = try RealFileSystem().open(target, .write)
        defer { file.close() }
        try file.sync()
    }
}
