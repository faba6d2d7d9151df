public let below1 = 1
