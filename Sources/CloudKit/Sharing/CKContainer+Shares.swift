import Foundation

/// Describes and accepts shares.
extension CKContainer {
    /// Returns the description of the share with a URL.
    ///
    /// ```swift
    /// let metadata = try await container.shareMetadata(for: url)
    /// let share = try await container.accept(metadata)
    /// ```
    ///
    /// - Throws: `unknownItem` if no share has the URL, or none that the user may know of (B346).
    @discardableResult
    public func shareMetadata(for url: URL) async throws -> CKShare.Metadata {
        try await privateCloudDatabase.call.shareMetadata([url]).only()
    }

    /// Returns the descriptions of the shares with some URLs.
    @discardableResult
    public func shareMetadatas(for urls: [URL]) async throws -> [URL: Result<CKShare.Metadata, Error>] {
        try await privateCloudDatabase.call.shareMetadata(urls).byItem()
    }

    /// Joins a share, whose records are then in ``sharedCloudDatabase``. Accepting it again changes nothing (B353).
    ///
    /// - Throws: `permissionFailure` if the share is not public and the user was not invited (B352).
    @discardableResult
    public func accept(_ metadata: CKShare.Metadata) async throws -> CKShare {
        try await privateCloudDatabase.call.accept([metadata]).only()
    }

    /// Joins several shares.
    @discardableResult
    public func accept(
        _ metadatas: [CKShare.Metadata]
    ) async throws -> [CKShare.Metadata: Result<CKShare, Error>] {
        try await privateCloudDatabase.call.accept(metadatas).byItem()
    }

    /// Asks for access to shares. A success does not disclose whether there is such a share (B399).
    @discardableResult
    public func requestShareAccess(for urls: [URL]) async throws -> [URL: Result<Void, Error>] {
        try await privateCloudDatabase.call.requestAccess(urls).byItem()
    }
}

extension SendableHandlers where Self: CKContainer {
    /// The same as ``CKContainer/shareMetadata(for:)``, with a completion handler.
    @preconcurrency
    public func fetchShareMetadata(
        with url: URL, completionHandler: @escaping @Sendable (CKShare.Metadata?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) { try await $0.shareMetadata([url]).only() }
    }

    /// The same as ``CKContainer/shareMetadatas(for:)``, with a completion handler.
    @preconcurrency
    public func fetchShareMetadatas(
        for urls: [URL],
        completionHandler: @escaping @Sendable (Result<[URL: Result<CKShare.Metadata, Error>], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) { try await $0.shareMetadata(urls).byItem() }
    }

    /// The same as the asynchronous form, with a completion handler.
    @preconcurrency
    public func accept(
        _ metadata: CKShare.Metadata, completionHandler: @escaping @Sendable (CKShare?, Error?) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) { try await $0.accept([metadata]).only() }
    }

    /// The same as the asynchronous form, with a completion handler.
    @preconcurrency
    public func accept(
        _ metadatas: [CKShare.Metadata],
        completionHandler: @escaping @Sendable (Result<[CKShare.Metadata: Result<CKShare, Error>], Error>) -> Void
    ) {
        privateCloudDatabase.call.answer(completionHandler) { try await $0.accept(metadatas).byItem() }
    }
}
