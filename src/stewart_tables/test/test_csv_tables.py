# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables are read by column names, and what is wrong is named by file, line and column."""

import io

import numpy as np
import pytest
from stewart_tables.csv_tables import read_table, ROWS_TOLD, write_table
from stewart_tables.errors import ConfigurationError


def written(tmp_path, text):
    path = tmp_path / 'table.csv'
    path.write_text(text)
    return path


def test_columns_are_found_by_name_whatever_else_is_there(tmp_path):
    path = written(tmp_path, 'note, b ,a\nfirst,2,1\n\nthird,4,3\n')
    table = read_table(path, ('a', 'b', 'c'))
    assert table.take(['a', 'b']).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert table.lines.tolist() == [2, 4]
    assert table.has(['a', 'b'])
    assert not table.has(['c'])


@pytest.mark.parametrize(
    'head',
    ['# of a lab, 2026\na,b', '#\n#a, b', '\n# one, two\n# a,b', '# of ,"Lab\n# "a","b"'],
)
def test_remarks_are_left_out_and_one_may_name_the_columns(tmp_path, head):
    lines = head.count('\n') + 1
    table = read_table(written(tmp_path, f'{head}\n1,2\n# a ,"pause\n3,4\n'), ('a', 'b'))
    assert table.take(['a', 'b']).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert table.lines.tolist() == [lines + 1, lines + 3]
    with pytest.raises(ConfigurationError, match=rf'table\.csv:{lines}: expected the columns c'):
        table.take(['c'])


def test_part_of_a_group_is_a_mistake(tmp_path):
    table = read_table(written(tmp_path, 'a,b\n1,2\n'), ('a', 'b', 'c'))
    with pytest.raises(ConfigurationError, match='expected the columns c as well'):
        table.has(['a', 'b', 'c'])
    with pytest.raises(ConfigurationError, match='expected the columns c as well'):
        table.take(['c'])


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('a,b\n1,2\n3,x\n', r"table\.csv:3: b: expected a number, got 'x'"),
        ('a,b\n1,nan\n', r"table\.csv:2: b: expected a finite number, got 'nan'"),
        ('a,b\n-1e101,2\n', r'table\.csv:2: a: expected a number from -1e\+100 to 1e\+100, got'),
        ('a,b\n1,\n', r"table\.csv:2: b: expected a number, got ''"),
        ('a,b\n1\n', r'table\.csv:2: expected 2 cells, got 1'),
        ('a,a\n1,2\n', r"table\.csv:1: expected every column once, got 'a'"),
        ('a;b\n1;2\n', r"table\.csv:1: expected commas .*, got 'semicolons between them'"),
        ('a;b\n1,5;2,5\n', r'table\.csv:1: expected commas .* and decimal points'),
        ('a\tb\n1\t2\n', r'tabulators between them'),
        ('a,b\n1,"2,5"\n', r"table\.csv:2: b: expected a number with a decimal point, got '2,5'"),
        ('a,b\n1,1_000\n', r"table\.csv:2: b: expected a number of plain digits, got '1_000'"),
        ('a,b\n1,١٢\n', r"table\.csv:2: b: expected a number of plain digits, got '١٢'"),
        ('# of a lab\na;b\n1;2\n', r'table\.csv:2: expected commas'),
        ('# of a lab\n', r'table\.csv:1: expected a line with the names of the columns'),
        ('', r'table\.csv:1: expected a line with the names of the columns'),
    ],
)
def test_mistake_is_named_with_its_place(tmp_path, text, message):
    with pytest.raises(ConfigurationError, match=message):
        read_table(written(tmp_path, text), ('a', 'b'))


def test_all_that_the_header_has_is_shown_where_metres_are_missing(tmp_path):
    path = tmp_path / 'poses.csv'
    path.write_text('x_mm,roll_deg\n1,2\n')
    with pytest.raises(ConfigurationError, match=r"x_m as well, in metres, got 'roll_deg, x_mm'"):
        read_table(path, ['x_m', 'roll_deg']).take(['x_m'])


def test_of_many_columns_the_first_are_shown(tmp_path):
    header = ','.join(f'c{number}' for number in range(30))
    table = read_table(written(tmp_path, f'{header}\n{header}\n'), [])
    with pytest.raises(ConfigurationError, match=r'c10, c11 and 18 more') as caught:
        table.take(['x_m'])
    assert caught.value.expected == 'the columns x_m as well'
    with pytest.raises(ConfigurationError, match=r'a10, a11 and 8 more as well'):
        table.take([f'a{number}' for number in range(20)])


def test_a_note_may_hold_what_no_number_may(tmp_path):
    table = read_table(written(tmp_path, 'note,a\nwind_1 größer ١,1\n'), ['a'])
    assert table.take(['a']).tolist() == [[1.0]]


@pytest.mark.parametrize('content', [b'\xff\xfe\x00', b'a,b\n1,' + b'2' * 200_000])
def test_what_is_no_text_is_refused(tmp_path, content):
    path = tmp_path / 'table.csv'
    path.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r'table\.csv: expected a CSV file in UTF-8'):
        read_table(path, ('a', 'b'))


def test_standard_streams(monkeypatch, capsys):
    monkeypatch.setattr('sys.stdin', io.StringIO('a,b\n1,2\n'))
    table = read_table('-', ('a', 'b'))
    assert table.source == 'standard input'
    write_table('-', ['a', 'b'], -0.0 * table.take(['a', 'b']))
    assert capsys.readouterr().out == 'a,b\n0,0\n'


def test_mark_of_a_spreadsheet_is_no_part_of_a_name(tmp_path, monkeypatch):
    content = b'\xef\xbb\xbfa,b\r\n1,2\r\n'
    path = tmp_path / 'table.csv'
    path.write_bytes(content)
    assert read_table(path, ('a', 'b')).take(['a', 'b']).tolist() == [[1.0, 2.0]]
    monkeypatch.setattr('sys.stdin', io.TextIOWrapper(io.BytesIO(content), encoding='ascii'))
    assert read_table('-', ('a', 'b')).take(['a', 'b']).tolist() == [[1.0, 2.0]]


def test_standard_input_that_is_no_text_is_refused(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(b'\xff\xfe\x00'), errors='surrogateescape')
    monkeypatch.setattr('sys.stdin', stream)
    with pytest.raises(ConfigurationError, match='standard input: expected a CSV file in UTF-8'):
        read_table('-', ('a', 'b'))


def test_written_numbers_come_back(tmp_path):
    values = np.random.default_rng(1).normal(size=(20, 2))
    path = tmp_path / 'out.csv'
    write_table(path, ['a', 'b'], values)
    np.testing.assert_allclose(read_table(path, ('a', 'b')).take(['a', 'b']), values, rtol=1e-14)


def test_progress_of_a_large_table_is_told_until_its_end(tmp_path, monkeypatch):
    path, told = tmp_path / 'large.csv', []
    values = np.arange(2.4 * ROWS_TOLD).reshape(-1, 1)
    write_table(path, ['a'], values, told.append)
    assert told == pytest.approx([1 / 2.4, 2 / 2.4, 1.0])
    told.clear()
    read_table(path, ('a',), told.append)
    # By the bytes that were read, which comes in blocks.
    assert told == pytest.approx([1 / 2.4, 2 / 2.4], abs=0.15)
    told.clear()
    monkeypatch.setattr('sys.stdin', io.StringIO(path.read_text()))
    read_table('-', ('a',), told.append)
    assert told == [None, None]


def test_a_table_without_rows_is_a_table(tmp_path):
    table = read_table(written(tmp_path, 'a,b\n'), ('a', 'b'))
    assert table.take(['a', 'b']).shape == (0, 2)
