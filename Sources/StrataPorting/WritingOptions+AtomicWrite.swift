import Foundation

extension Data.WritingOptions {
    /// The earlier name of `atomic`.
    public static var atomicWrite: Data.WritingOptions { .atomic }
}
