"""The pure half of Consilience: text in, values out, no Scrapy and no sockets."""
