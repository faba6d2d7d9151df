@testable import StrataTree

/// Where a header slot has its fields (docs/format-views.md §6). The product reads and writes them in this order.
extension ViewFormat {
    static let pageBytesPlace = 10
    static let epochPlace = 24
    static let storePlace = 32
    static let offsetPlace = 48
    static let chainPlace = 56
    static let pageCountPlace = 60
    static let timePlace = 64
    static let recordFirstPlace = 72
    static let recordPagesPlace = 76
    static let recordBytesPlace = 80
    static let recordChecksumPlace = 84
    static let headerEnd = 88
}
